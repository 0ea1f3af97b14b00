import type { ProtectedFiles } from '../../src/local/protected-files.js'

/** For walks over folders in which nothing is protected. */
export const NOTHING_PROTECTED: ProtectedFiles = { has: () => false, refusal: () => undefined }
