import { Database } from '../src/engine/storage/database.js'
import { isProgram } from '../src/engine/storage/program.js'

/**
 * Runs the program of every write twice, the first time for nothing: a driver of a server may have to run one again after
 * a conflict. A program that changes something outside of itself shows it in the tests.
 */
const { write } = Database.prototype
Database.prototype.write = function (this: Database, work) {
  return write.call(this, () => {
    const first = work()
    if (!isProgram(first)) return first
    const step = (text: string) => this.execute({ verb: 'run', sql: text, values: [] })
    step('SAVEPOINT first_run')
    try {
      this.now(first)
    } finally {
      step('ROLLBACK TO first_run')
      step('RELEASE first_run')
    }
    return work()
  }) as ReturnType<typeof write>
} as typeof write
