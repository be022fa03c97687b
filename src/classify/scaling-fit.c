/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: the models of a scaling curve. In: speed-ups S at N workers. Out: coefficients.
 *
 * Gunther's Universal Scalability Law is N / S = 1 + a (N - 1) + b N (N - 1): linear in a
 * (contention) and b (coherence). With b = 0 it is Amdahl's law, a being the serial fraction. A
 * negative coefficient has no meaning: the law is fitted again without it.
 */
#include "classify/scaling.h"

#include <math.h>

#define CLOSE_ENOUGH 0.95

struct sums {
	size_t n, n_away;	   /* points; those with N > 1 */
	double xx, xz, zz, xy, zy; /* of x = N - 1, z = N (N - 1), y = N / S - 1 */
};

static double clip(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

static struct sums add_up(const struct scale_result *result, enum scale_mode mode)
{
	struct sums s = {0};

	for (size_t i = 0; i < result->n_phases; i++) {
		const struct scale_phase *phase = &result->phases[i];
		double n = phase->workers, speedup = scale_speedup(result, phase);
		double x = n - 1, z = n * (n - 1), y;

		if (phase->mode != mode || phase->unavailable || speedup <= 0)
			continue;
		y = n / speedup - 1;
		s.n++;
		s.n_away += n > 1;
		s.xx += x * x;
		s.xz += x * z;
		s.zz += z * z;
		s.xy += x * y;
		s.zy += z * y;
	}
	return s;
}

static void solve(const struct sums *s, struct scaling_fit *ret)
{
	double det = s->xx * s->zz - s->xz * s->xz, a, b;

	ret->amdahl_serial_fraction = clip(s->xy / s->xx, 0, 1);
	a = ret->amdahl_serial_fraction;
	b = 0;
	/* at N = 1 both terms vanish */
	if (s->n_away > 1 && det > 1e-9 * s->xx * s->zz) {
		a = (s->xy * s->zz - s->zy * s->xz) / det;
		b = (s->xx * s->zy - s->xz * s->xy) / det;
		if (a < 0) {
			a = 0;
			b = s->zy / s->zz;
		}
		if (b < 0) {
			b = 0;
			a = s->xy / s->xx;
		}
	}
	ret->usl_contention = clip(a, 0, 1);
	ret->usl_coherence = fmax(b, 0);
}

static double model(const struct scaling_fit *fit, double n)
{
	return n / (1 + fit->usl_contention * (n - 1) + fit->usl_coherence * n * (n - 1));
}

bool scaling_fit(const struct scale_result *result, enum scale_mode mode, struct scaling_fit *ret)
{
	struct sums sums = add_up(result, mode);
	struct scaling_fit fit = {0};
	double best = 0;

	if (sums.n < 2 || sums.xx <= 0)
		return false;
	solve(&sums, &fit);
	for (size_t i = 0; i < result->n_phases; i++)
		if (result->phases[i].mode == mode)
			best = fmax(best, model(&fit, result->phases[i].workers));
	for (size_t i = 0; i < result->n_phases && !fit.best_workers; i++)
		if (result->phases[i].mode == mode &&
			model(&fit, result->phases[i].workers) >= CLOSE_ENOUGH * best)
			fit.best_workers = result->phases[i].workers;
	*ret = fit;
	return true;
}
