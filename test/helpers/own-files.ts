import type { ProtectedFiles } from '../../src/local/protected-files.js'

/** The setting of a walk over folders without protected files. */
export const NOTHING_PROTECTED: ProtectedFiles = { has: () => false, refusal: () => undefined }
