import { recoverJobs } from '../../ingest/index.js'
import type { Write } from '../../store/program.js'
import { failOrphanedAnnotationJobs } from '../../store/rows/chat/annotation-jobs.js'
import { failOrphanedMessages } from '../../store/rows/chat/conversations.js'
import { removeOrphanedTurnRequests } from '../../store/rows/chat/turns.js'
import { migrationRows } from '../../store/rows/embedding-migrations.js'
import { readingRows } from '../../store/rows/graph/readings.js'
import { releaseOrphanedRemovals } from '../../store/rows/objects.js'
import { failOrphanedGoldenRuns } from '../../store/rows/quality/golden-runs.js'
import { releaseOrphanedTasks } from '../../store/rows/research/claims.js'
import { failOrphanedSyncs } from '../../store/rows/source-syncs.js'
import { failOrphanedUploads } from '../../store/rows/staged-commits.js'
import { supersedeOrphanedVectorSpaces } from '../../store/rows/vector-spaces.js'
import { abandonOrphanedImports } from '../rows/bundles/imports.js'

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
  { what: 'uploads', recover: failOrphanedUploads },
  { what: 'removals', recover: releaseOrphanedRemovals },
  { what: 'models', recover: supersedeOrphanedVectorSpaces },
  { what: 'jobs', recover: recoverJobs },
  { what: 'researchTasks', recover: releaseOrphanedTasks },
  { what: 'syncs', recover: failOrphanedSyncs },
  { what: 'chatMessages', recover: failOrphanedMessages },
  { what: 'turnRequests', recover: removeOrphanedTurnRequests },
  { what: 'annotationJobs', recover: failOrphanedAnnotationJobs },
  { what: 'embeddingMigrations', recover: migrationRows.releaseOrphaned },
  { what: 'graphReadings', recover: readingRows.releaseOrphaned },
  { what: 'goldenRuns', recover: failOrphanedGoldenRuns },
  { what: 'imports', recover: abandonOrphanedImports },
]
