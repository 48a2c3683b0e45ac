# SPDX-License-Identifier: MIT
"""Digits with TensorFlow 2's MultiWorkerMirroredStrategy.

    ringup run --launcher tf -- python3 tf_multiworker.py       (TF_CONFIG from ringup)

The loop is written out and needs no Keras, so that every TensorFlow from 2.4 on can run it.
"""
import json
import os

import digits


def main():
    options = digits.arguments(__doc__.split("\n")[0])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    import tensorflow as tf

    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    world = len(config.get("cluster", {}).get("worker", [None]))
    rank = config.get("task", {}).get("index", 0)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # meets the other workers
    images, labels, test_images, test_labels = digits.load()
    with strategy.scope():
        # MEAN: what the ranks assign is averaged over all of them
        weights = [tf.Variable(w, aggregation=tf.VariableAggregation.MEAN) for w in digits.first_weights()]
    w1, b1, w2, b2 = weights

    def step(x, y):
        with tf.GradientTape() as tape:
            scores = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(digits.RATE * gradient)

    @tf.function(input_signature=[tf.TensorSpec([None, 64], tf.float32), tf.TensorSpec([None], tf.int64)])
    def train(x, y):
        strategy.run(step, args=(x, y))

    for x, y in digits.batches(images, labels, options.epochs, rank, world):
        train(tf.constant(x), tf.constant(y))
    digits.report(rank, world, [w.numpy() for w in weights], test_images, test_labels)


if __name__ == "__main__":
    main()
