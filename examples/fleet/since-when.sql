-- SPDX-License-Identifier: Apache-2.0
-- Since when: each change from one process of a node and image to the next. More changes than nodes: it goes to and fro.
WITH next_to AS (
    SELECT
        image, node, started, release,
        lag(release) OVER (PARTITION BY image, node ORDER BY started, file, path) AS before
    FROM got
)
SELECT
    image, before, release, count(DISTINCT node) AS nodes, count(*) AS changes,
    min(started) AS since, max(started) AS until, min_by(node, started) AS first_node
FROM next_to
WHERE release <> before
GROUP BY image, before, release
ORDER BY since, image, release;
