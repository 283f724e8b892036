-- SPDX-License-Identifier: Apache-2.0
-- Which nodes got another cuDNN than the rest: than most nodes with the same image, on the same day.
WITH daily AS (
    SELECT image, CAST(started AS DATE) AS day, release, release_key, count(DISTINCT node) AS nodes
    FROM got
    GROUP BY image, CAST(started AS DATE), release, release_key
), usual AS (
    SELECT image, day, release FROM (
        SELECT *, row_number() OVER (PARTITION BY image, day ORDER BY nodes DESC, release_key DESC) AS place FROM daily
    ) AS ranked
    WHERE place = 1
)
SELECT
    got.image, got.node, got.release, got.path, usual.release AS usual,
    count(DISTINCT got.file) AS processes, min(got.started) AS since, max(got.started) AS until
FROM got JOIN usual ON usual.image = got.image AND usual.day = CAST(got.started AS DATE)
WHERE got.release <> usual.release
GROUP BY got.image, got.node, got.release, got.path, usual.release
ORDER BY
    processes DESC, got.image NULLS LAST, got.node NULLS LAST, got.release NULLS LAST, got.path NULLS LAST,
    usual.release NULLS LAST;
