/* SPDX-License-Identifier: MIT */
/*
 * A small network for --sgd: 64 pixels, one hidden layer of rectified units, 10 classes; softmax
 * and cross-entropy. Plain loops in single precision. Weights are one flat vector, so that one
 * all-reduce moves a whole gradient.
 */
#ifndef WORKER_NETWORK_H
#define WORKER_NETWORK_H

#include "sgd/digits.h"

#include <stddef.h>

#define HIDDEN 512
#define NETWORK_WEIGHTS (DIGIT_PIXELS * HIDDEN + HIDDEN + HIDDEN * DIGIT_CLASSES + DIGIT_CLASSES)

/* Fills @weights with random numbers that are the same everywhere. */
void network_init(float *weights);

/* Adds the gradient of @digit's loss to @gradient (NULL: none is wanted) and returns the loss;
 * *guess is the class that the network takes it for. */
float network_learn(const float *weights, const struct digit *digit, float *gradient, int *guess);

/* weights -= rate * gradient */
void network_step(float *weights, const float *gradient, float rate);

/* Mean loss and share of right guesses over @count images. */
void network_judge(const float *weights, const struct digit *digits, int count, double *loss,
		   double *right);

#endif
