import { createFinding, type IntegrityFinding } from './findings.js'
import type { ScanPhase } from './phase.js'

const ADVICE = 'put a backup in the place of the data directory (`ks restore`)'

/**
 * Checks the pages of the database file, and its indexes against its rows, with SQLite. They belong to no space, so the
 * check of each space includes them. A server checks its own pages.
 */
export const databasePagesPhase: ScanPhase = async ({ context: { databaseFile } }) => {
  if (databaseFile === undefined) return { scanned: 0, findings: [] }
  const problems = await databaseFile.checkPages()
  const findings = problems.map((problem): IntegrityFinding => {
    const message = `the database file is damaged: ${problem}`
    return createFinding('checksum-mismatch', 'database-damaged', message, {
      target: { type: 'knowledge-path' },
      remedy: { by: 'person', advice: ADVICE },
    })
  })
  return { scanned: 1, findings }
}
