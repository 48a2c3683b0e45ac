/* SPDX-License-Identifier: MIT */
/*
 * The data set of --sgd: real handwritten digits, compiled in (digits_data.h names source and
 * licence).
 */
#ifndef WORKER_DIGITS_H
#define WORKER_DIGITS_H

#define DIGITS_COUNT 1797
#define DIGITS_TRAIN 1500 /* the first ones are for training, the others for testing */
#define DIGIT_PIXELS 64
#define DIGIT_CLASSES 10

struct digit {
	float pixels[DIGIT_PIXELS]; /* 0 to 1 */
	int label;		    /* 0 to 9 */
};

/* All images, DIGITS_COUNT of them; the caller frees. */
struct digit *digits_load(void);

#endif
