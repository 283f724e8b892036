-- SPDX-License-Identifier: Apache-2.0
-- Who runs a release with a known defect, by the table of today, whatever was known when the process ran.
SELECT
    bad_release.releases, bad_release.shows_in, got.release, got.image, got.node,
    count(DISTINCT got.file) AS processes, min(got.started) AS since, max(got.started) AS until
FROM got
JOIN bad_release ON got.release_key >= bad_release.at_least AND got.release_key < bad_release.below
LEFT JOIN library AS host
    ON host.file = got.file AND host.framework = bad_release.framework
    AND host.installation_key >= bad_release.framework_at_least
    AND host.installation_key < bad_release.framework_below
WHERE bad_release.framework IS NULL OR host.file IS NOT NULL
GROUP BY bad_release.releases, bad_release.shows_in, got.release, got.image, got.node
ORDER BY processes DESC, got.image, got.node;
