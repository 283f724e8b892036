-- SPDX-License-Identifier: Apache-2.0
-- Which images (container, system, environment) bring which cuDNN, from which installation, and how they fare.
SELECT
    got.container, got.operating_system, got.environment, got.release, got.installation_kind, got.installation,
    count(DISTINCT got.node) AS nodes, count(DISTINCT got.file) AS processes, count(DISTINCT failed.file) AS with_errors,
    min(got.started) AS since, max(got.started) AS until
FROM got LEFT JOIN (SELECT DISTINCT file FROM finding WHERE severity = 'error') AS failed ON failed.file = got.file
GROUP BY
    got.container, got.operating_system, got.environment, got.release, got.installation_kind, got.installation
ORDER BY
    processes DESC, got.environment NULLS LAST, got.release NULLS LAST, got.container NULLS LAST,
    got.operating_system NULLS LAST, got.installation_kind NULLS LAST, got.installation NULLS LAST;
