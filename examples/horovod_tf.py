# SPDX-License-Identifier: MIT
"""Digits with TensorFlow 2 and Horovod.

    ringup run --launcher mpirun -- python3 horovod_tf.py       (needs Open MPI and Horovod in the image)
"""
import os

import digits


def main():
    options = digits.arguments(__doc__.split("\n")[0])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank() % len(gpus)], "GPU")
    images, labels, test_images, test_labels = digits.load()
    weights = [tf.Variable(w) for w in digits.first_weights()]
    w1, b1, w2, b2 = weights
    hvd.broadcast_variables(weights, root_rank=0)

    @tf.function(input_signature=[tf.TensorSpec([None, 64], tf.float32), tf.TensorSpec([None], tf.int64)])
    def train(x, y):
        with tf.GradientTape() as tape:
            scores = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
        tape = hvd.DistributedGradientTape(tape)  # its gradients are averaged over the ranks
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(digits.RATE * gradient)

    for x, y in digits.batches(images, labels, options.epochs, hvd.rank(), hvd.size()):
        train(tf.constant(x), tf.constant(y))
    digits.report(hvd.rank(), hvd.size(), [w.numpy() for w in weights], test_images, test_labels)


if __name__ == "__main__":
    main()
