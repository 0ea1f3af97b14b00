import { ConnectionError } from '../client/errors.js'

/** Aborts after `--timeout`; does not keep the process alive. */
export function armDeadline(deadline: AbortController, ms: number): void {
  setTimeout(() => {
    deadline.abort(new ConnectionError('timeout', `the command took longer than ${ms} ms (--timeout)`))
  }, ms).unref()
}
