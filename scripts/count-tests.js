/** Prints `N passed, N failed, N skipped` from a report of vitest's JSON reporter; fails when something failed. */
import { readFileSync } from 'node:fs'

const report = readReport(process.argv[2])
// a file that cannot be loaded has no tests that could count as failed
const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
const failed = report.numFailedTests + broken.length
const skipped = report.numPendingTests + report.numTodoTests
process.stdout.write(`${report.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`)
if (failed > 0 || report.numPassedTests === 0) process.exitCode = 1

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { testResults: [], numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 }
  }
}
