import { recoverClaims } from '../jobs/recovery.js'
import { dropLeftImports } from '../rows/bundles/imports.js'
import { failLeftJobs } from '../rows/chat/annotation-jobs.js'
import { failOrphans } from '../rows/chat/conversations.js'
import { dropRequests } from '../rows/chat/turns.js'
import { migrationRows } from '../rows/embedding-migrations.js'
import { readingRows } from '../rows/graph/readings.js'
import { freeRemovals } from '../rows/objects.js'
import { freeTasks } from '../rows/research/claims.js'
import { recoverSyncs } from '../rows/source-syncs.js'
import { abandonUnacknowledged } from '../rows/staged-commits.js'
import { giveUpUnfinished } from '../rows/vector-spaces.js'
import type { Write } from '../storage/program.js'

/** Recovers one kind of work of lost gateways. */
interface Recoverer {
  /** kind of work, for the log */
  what: string
  /**
   * Recovers the work, inside the transaction that removes the gateways. @param now time for ages and expiry @returns
   * amount of recovered work
   */
  recover(now: number): Write<number>
}

/** Every kind of work that names its gateway: add new kinds here. Idempotency keys are checked when they are used. */
export const RECOVERERS: readonly Recoverer[] = [
  { what: 'uploads', recover: abandonUnacknowledged },
  { what: 'removals', recover: freeRemovals },
  { what: 'models', recover: giveUpUnfinished },
  { what: 'jobs', recover: recoverClaims },
  { what: 'researchTasks', recover: freeTasks },
  { what: 'syncs', recover: recoverSyncs },
  { what: 'chatMessages', recover: failOrphans },
  { what: 'turnRequests', recover: dropRequests },
  { what: 'annotationJobs', recover: failLeftJobs },
  { what: 'embeddingMigrations', recover: migrationRows.free },
  { what: 'graphReadings', recover: readingRows.free },
  { what: 'imports', recover: dropLeftImports },
]
