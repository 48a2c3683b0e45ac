/* SPDX-License-Identifier: MIT */
#include "sgd/network.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Where the parts of the flat vector begin. */
#define BIAS1 ((size_t)DIGIT_PIXELS * HIDDEN)
#define WEIGHT2 (BIAS1 + HIDDEN)
#define BIAS2 (WEIGHT2 + (size_t)HIDDEN * DIGIT_CLASSES)

/* splitmix64, scaled to -1 .. 1 */
static float random_number(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (float)((double)(x >> 11) * 0x1p-52 - 1);
}

void network_init(float *weights)
{
	uint64_t state = 1;

	memset(weights, 0, NETWORK_WEIGHTS * sizeof(*weights));
	for (size_t i = 0; i < BIAS1; i++)
		weights[i] = random_number(&state) * sqrtf(3.0f / DIGIT_PIXELS);
	for (size_t i = WEIGHT2; i < BIAS2; i++)
		weights[i] = random_number(&state) * sqrtf(3.0f / HIDDEN);
}

/* out += factor * in */
static void add_scaled(float *restrict out, const float *restrict in, float factor, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] += factor * in[i];
}

static void hidden_layer(const float *weights, const struct digit *digit, float *hidden)
{
	memcpy(hidden, weights + BIAS1, HIDDEN * sizeof(*hidden));
	for (size_t pixel = 0; pixel < DIGIT_PIXELS; pixel++)
		if (digit->pixels[pixel] > 0)
			add_scaled(hidden, weights + pixel * HIDDEN, digit->pixels[pixel], HIDDEN);
	for (size_t i = 0; i < HIDDEN; i++)
		hidden[i] = hidden[i] > 0 ? hidden[i] : 0;
}

/* Scores of the classes become probabilities; returns the loss. */
static float softmax(float *scores, int label, int *guess)
{
	float most = scores[0], sum = 0, own = scores[label];

	*guess = 0;
	for (int i = 1; i < DIGIT_CLASSES; i++) {
		if (scores[i] <= most)
			continue;
		most = scores[i];
		*guess = i;
	}
	for (int i = 0; i < DIGIT_CLASSES; i++)
		sum += scores[i] = expf(scores[i] - most);
	for (int i = 0; i < DIGIT_CLASSES; i++)
		scores[i] /= sum;
	return logf(sum) - (own - most);
}

/* @error is the gradient at the scores. */
static void learn(const float *weights, const struct digit *digit, const float *hidden,
		  const float *error, float *gradient)
{
	float back[HIDDEN] = {0};

	for (size_t class = 0; class < DIGIT_CLASSES; class ++) {
		size_t at = WEIGHT2 + class * HIDDEN;

		add_scaled(back, weights + at, error[class], HIDDEN);
		add_scaled(gradient + at, hidden, error[class], HIDDEN);
		gradient[BIAS2 + class] += error[class];
	}
	for (size_t i = 0; i < HIDDEN; i++)
		back[i] = hidden[i] > 0 ? back[i] : 0;
	add_scaled(gradient + BIAS1, back, 1, HIDDEN);
	for (size_t pixel = 0; pixel < DIGIT_PIXELS; pixel++)
		if (digit->pixels[pixel] > 0)
			add_scaled(gradient + pixel * HIDDEN, back, digit->pixels[pixel], HIDDEN);
}

float network_learn(const float *weights, const struct digit *digit, float *gradient, int *guess)
{
	float hidden[HIDDEN], scores[DIGIT_CLASSES], loss;

	hidden_layer(weights, digit, hidden);
	for (size_t class = 0; class < DIGIT_CLASSES; class ++) {
		const float *row = weights + WEIGHT2 + class * HIDDEN;

		scores[class] = weights[BIAS2 + class];
		for (size_t i = 0; i < HIDDEN; i++)
			scores[class] += row[i] * hidden[i];
	}
	loss = softmax(scores, digit->label, guess);
	scores[digit->label] -= 1;
	if (gradient)
		learn(weights, digit, hidden, scores, gradient);
	return loss;
}

void network_step(float *weights, const float *gradient, float rate)
{
	add_scaled(weights, gradient, -rate, NETWORK_WEIGHTS);
}

void network_judge(const float *weights, const struct digit *digits, int count, double *loss,
		   double *right)
{
	*loss = *right = 0;
	for (int i = 0; i < count; i++) {
		int guess;

		*loss += (double)network_learn(weights, &digits[i], NULL, &guess) / count;
		*right += (guess == digits[i].label) / (double)count;
	}
}
