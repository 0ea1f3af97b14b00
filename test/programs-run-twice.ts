import { Database } from '../src/engine/store/database.js'
import { isProgram } from '../src/engine/store/program.js'

/**
 * Runs the program of every write twice and discards the first run, as a server may run it again after a conflict. A
 * program with side effects then fails its tests.
 */
const { write } = Database.prototype
// files that share modules come by one after another
const WRAPPED = Symbol.for('ks-programs-run-twice')
if (!(WRAPPED in write)) Database.prototype.write = Object.assign(twice as typeof write, { [WRAPPED]: true })

function twice(this: Database, work: Parameters<typeof write>[0]) {
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
}
