# SPDX-License-Identifier: MIT
"""Digits with TensorFlow 2's ParameterServerStrategy.

    ringup run --launcher tf --roles chief=1,worker=2,ps=1 -- python3 tf_parameter_server.py      (TF_CONFIG from ringup)

The ps has the weights. The chief hands out the batches, and a worker that is ready takes the next one, reads the
weights, and sends its change to the ps. Nobody waits for another worker, so the weights differ from run to run.
"""
import os

import digits


def main():
    options = digits.arguments(__doc__.split("\n")[0])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        # it serves until ringup ends it, when the chief is done
        tf.distribute.Server(resolver.cluster_spec(), protocol="grpc", job_name=resolver.task_type,
                             task_index=resolver.task_id).join()

    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    images, labels, test_images, test_labels = digits.load()
    with strategy.scope():
        weights = [tf.Variable(w) for w in digits.first_weights()]  # on the ps
    w1, b1, w2, b2 = weights

    @tf.function(input_signature=[tf.TensorSpec([None, 64], tf.float32), tf.TensorSpec([None], tf.int64)])
    def train(x, y):
        with tf.GradientTape() as tape:
            scores = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(digits.RATE * gradient)

    for x, y in digits.batches(images, labels, options.epochs, 0, 1):
        coordinator.schedule(train, args=(tf.constant(x), tf.constant(y)))
    coordinator.join()  # all batches are learnt
    digits.report(0, 1, [w.numpy() for w in weights], test_images, test_labels)


if __name__ == "__main__":
    main()
