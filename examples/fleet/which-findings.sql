-- SPDX-License-Identifier: Apache-2.0
-- Which finding that the library looks for most, on how many nodes and images; an example to look into: whichcudnn report EXAMPLE
SELECT
    finding.id, finding.severity, count(DISTINCT finding.file) AS processes, count(DISTINCT process.node) AS nodes,
    count(DISTINCT process.image) AS images, min(finding.file) AS example
FROM finding JOIN process ON process.file = finding.file
GROUP BY finding.id, finding.severity
ORDER BY processes DESC, finding.id, finding.severity;
