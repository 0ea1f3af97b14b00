/** Retention, checks and repairs, bundles, status, and the gateways of a shared deployment. */

export type { BundleCheckResult, BundleChecks } from './bundles/checks.js'
export { createBundleOperations } from './bundles/operations.js'
export { Gateway } from './gateways/gateway.js'
export { createIntegrityOperations } from './integrity/integrity.js'
export { purgeSlice } from './retention/purge.js'
export { RetentionSweeper } from './retention/sweeper.js'
export { collectMetrics, type MetricsSnapshot } from './status/collect-metrics.js'
export { getHealth } from './status/health.js'
export { createModelOperations } from './status/models-in-use.js'
export { getSpaceStats, getSpaceStatus } from './status/status.js'
