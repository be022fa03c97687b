/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: opening an ELF file and reading it by virtual address.
 *
 * In: a path, a descriptor or bytes. Out: a struct image. Invariant: a segment's file part lies
 * inside the file, so no later access can leave it.
 */
#include "locate/image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_SEGMENT_BYTES (UINT64_C(1) << 30)

void image_close(struct image *image)
{
	if (!image)
		return;
	if (image->elf)
		elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	free(image->name);
	free(image);
}

static const uint8_t *raw(struct image *image, uint64_t offset, uint64_t size)
{
	Elf_Data *data;

	if (!size || offset > image->file_size || size > image->file_size - offset)
		return NULL;
	data = elf_getdata_rawchunk(image->elf, (int64_t)offset, (size_t)size, ELF_T_BYTE);
	image->unread = image->unread || !data || !data->d_buf;
	return data ? data->d_buf : NULL;
}

const uint8_t *image_load_bytes(struct image *image, struct image_load *load)
{
	if (!load->bytes)
		load->bytes = raw(image, load->offset, load->size);
	return load->bytes;
}

static struct image_load *load_at(const struct image *image, uint64_t vaddr, uint64_t size)
{
	for (size_t i = 0; i < image->n_loads; i++) {
		const struct image_load *load = &image->loads[i];

		if (vaddr >= load->vaddr && vaddr - load->vaddr < load->size &&
			size <= load->size - (vaddr - load->vaddr))
			return (struct image_load *)load;
	}
	return NULL;
}

const uint8_t *image_at(struct image *image, uint64_t vaddr, uint64_t size)
{
	struct image_load *load = load_at(image, vaddr, size);
	const uint8_t *bytes = load ? image_load_bytes(image, load) : NULL;

	return bytes ? bytes + (vaddr - load->vaddr) : NULL;
}

const uint8_t *image_piece(struct image *image, uint64_t vaddr, uint64_t size)
{
	struct image_load *load = load_at(image, vaddr, size);

	if (!load)
		return NULL;
	if (load->bytes)
		return load->bytes + (vaddr - load->vaddr);
	return raw(image, load->offset + (vaddr - load->vaddr), size);
}

uint64_t image_room(const struct image *image, uint64_t vaddr)
{
	const struct image_load *load = load_at(image, vaddr, 1);

	return load ? load->size - (vaddr - load->vaddr) : 0;
}

bool image_offset(const struct image *image, uint64_t vaddr, uint64_t *ret_offset)
{
	const struct image_load *load = load_at(image, vaddr, 1);

	if (!load)
		return false;
	*ret_offset = load->offset + (vaddr - load->vaddr);
	return true;
}

bool image_contains(struct image *image, const char *text)
{
	for (size_t i = 0; i < image->n_loads; i++) {
		const uint8_t *bytes = image_load_bytes(image, &image->loads[i]);

		if (bytes && memmem(bytes, image->loads[i].size, text, strlen(text)))
			return true;
	}
	return false;
}

static void read_build_id(struct image *image, const GElf_Phdr *ph)
{
	const uint8_t *note = raw(image, ph->p_offset, ph->p_filesz);
	uint64_t align = ph->p_align == 8 ? 8 : 4, at = 0;
	Elf64_Nhdr nhdr;

	while (note && !image->build_id[0] && at + sizeof(nhdr) <= ph->p_filesz) {
		uint64_t name = at + sizeof(nhdr), desc;

		memcpy(&nhdr, note + at, sizeof(nhdr));
		desc = (name + nhdr.n_namesz + align - 1) & -align;
		if (desc > ph->p_filesz || nhdr.n_descsz > ph->p_filesz - desc)
			return;
		if (nhdr.n_type == NT_GNU_BUILD_ID && nhdr.n_namesz == 4 &&
			!memcmp(note + name, "GNU", 4)) {
			for (size_t i = 0; i < nhdr.n_descsz && i < 20; i++)
				snprintf(image->build_id + 2 * i, 3, "%02x", note[desc + i]);
			return;
		}
		at = (desc + nhdr.n_descsz + align - 1) & -align;
	}
}

static int add_load(struct image *image, const GElf_Phdr *ph, struct err *err)
{
	struct image_load *load;

	if (!ph->p_filesz)
		return 0;
	if (ph->p_offset > image->file_size || ph->p_filesz > image->file_size - ph->p_offset)
		return err_set(err, -EBADMSG,
			"'%s' is cut short: a segment at offset %#llx needs %llu bytes, the file has %llu",
			image->name, (unsigned long long)ph->p_offset,
			(unsigned long long)ph->p_filesz, (unsigned long long)image->file_size);
	if (ph->p_vaddr > UINT64_MAX - ph->p_filesz)
		return err_set(err, -EBADMSG, "'%s' has a segment at an impossible address %#llx",
			image->name, (unsigned long long)ph->p_vaddr);
	if (image->n_loads == IMAGE_MAX_LOADS || ph->p_filesz > MAX_SEGMENT_BYTES)
		return err_set(
			err, -EOPNOTSUPP, "'%s' has too many or too large segments", image->name);
	load = &image->loads[image->n_loads++];
	load->vaddr = ph->p_vaddr;
	load->offset = ph->p_offset;
	load->size = ph->p_filesz;
	load->executable = ph->p_flags & PF_X;
	return 0;
}

static int read_headers(struct image *image, struct err *err)
{
	GElf_Ehdr ehdr;
	size_t n;
	int r;

	if (!gelf_getehdr(image->elf, &ehdr) || elf_getphdrnum(image->elf, &n))
		return err_set(err, -EBADMSG, "'%s' has a damaged ELF header", image->name);
	image->machine = ehdr.e_machine;
	image->type = ehdr.e_type;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(image->elf, (int)i, &ph))
			return err_set(err, -EBADMSG, "'%s' has a damaged program header %zu",
				image->name, i);
		if (ph.p_type == PT_LOAD) {
			r = add_load(image, &ph, err);
			if (r < 0)
				return r;
		} else if (ph.p_type == PT_DYNAMIC) {
			image->dynamic_at = ph.p_offset;
			image->dynamic_size = ph.p_filesz;
		} else if (ph.p_type == PT_GNU_EH_FRAME) {
			image->eh_frame_hdr.vaddr = ph.p_vaddr;
			image->eh_frame_hdr.size = ph.p_filesz;
		} else if (ph.p_type == PT_NOTE && !image->build_id[0]) {
			read_build_id(image, &ph);
		}
	}
	return image_read_dynamic(image, err);
}

/* Takes over image->elf (may be NULL) and the rest of the half-built @image. */
static int finish(struct image *image, struct image **ret, struct err *err)
{
	_cleanup_(cleanup_image_close) struct image *own = image;
	const char *ident;
	size_t n;
	int r;

	if (!own->name)
		return err_nomem(err);
	ident = own->elf ? elf_getident(own->elf, &n) : NULL;
	if (!ident || elf_kind(own->elf) != ELF_K_ELF)
		return err_set(err, -EBADMSG, "'%s' is not an ELF file", own->name);
	if (n < EI_NIDENT || ident[EI_CLASS] != ELFCLASS64)
		return err_set(err, -EOPNOTSUPP, "'%s' is not a 64-bit program", own->name);
	if (ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return err_set(
			err, -EOPNOTSUPP, "'%s' is for a machine of other byte order", own->name);
	r = read_headers(own, err);
	if (r < 0)
		return r;
	*ret = steal_ptr(own);
	return 0;
}

static struct image *image_new(const char *name)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	elf_version(EV_CURRENT);
	image->fd = -1;
	image->name = strdup(name);
	image->soname = image->rpath = image->runpath = UINT64_MAX;
	return image;
}

int image_open_fd(int fd, const char *name, struct image **ret, struct err *err)
{
	_cleanup_close_ int own = fd;
	struct image *image;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "unable to read '%s'", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, S_ISDIR(st.st_mode) ? -EISDIR : -EBADMSG,
			"'%s' is not a regular file", name);
	image = image_new(name);
	if (!image)
		return err_nomem(err);
	image->fd = steal_fd(&own);
	image->file_size = (uint64_t)st.st_size;
	image->elf = elf_begin(image->fd, ELF_C_READ, NULL);
	return finish(image, ret, err);
}

int image_open(const char *path, struct image **ret, struct err *err)
{
	/* O_NONBLOCK: a FIFO must not hang us */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_errno(err, -errno, "unable to open '%s'", path);
	return image_open_fd(fd, path, ret, err);
}

int image_open_memory(
	const void *bytes, size_t size, const char *name, struct image **ret, struct err *err)
{
	struct image *image = image_new(name);

	if (!image)
		return err_nomem(err);
	image->file_size = size;
	image->elf = size ? elf_memory((char *)bytes, size) : NULL;
	return finish(image, ret, err);
}
