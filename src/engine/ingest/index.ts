/** Compiles uploads and documents of sources into published versions. */

export { EmbeddingMigrations } from './compile/embedding-migrations.js'
export { cancelMigration, getMigration, startMigration } from './compile/migration-operations.js'
export { allocateNodeKeys } from './compile/node-keys.js'
export { createReplaySource } from './compile/replay.js'
export { fillVectors, isTrainingDue } from './compile/training.js'
export { TranscriptionQueue } from './compile/transcription-queue.js'
export { VectorFiller } from './compile/vector-filler.js'
export { cancelJob, getJob } from './jobs/jobs.js'
export { recoverJobs } from './jobs/recovery.js'
export { retryFailed, retryJob } from './jobs/retry.js'
export { JobRunner } from './jobs/runner.js'
export { createSourceOperations, type SourceService } from './sources/operations.js'
