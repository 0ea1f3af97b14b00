import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '../bench/lib/removed-folder.js'
import { buildIfStale } from '../scripts/build.js'

/**
 * Child processes, workers and the command line run compiled code, so `dist` must match the sources. `KS_SKIP_BUILD=1`
 * skips the build; it is set here too, because every project of a run loads this module.
 */
export default function setup(): () => void {
  if (process.env.KS_SKIP_BUILD !== '1') buildIfStale({ tolerant: true })
  process.env.KS_SKIP_BUILD = '1'
  // for what the files of a run share; a worker is ended without an `exit` of its own, so that none could remove it
  process.env.KS_TEST_RUN_DIR ??= mkdtempSync(join(tmpdir(), 'ks-run-'))
  const folder = process.env.KS_TEST_RUN_DIR
  return () => removeFolder(folder)
}
