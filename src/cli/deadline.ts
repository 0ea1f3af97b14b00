import { ConnectionError } from '../client/errors.js'

/** Aborts the controller after `--timeout`; does not keep the process alive. */
export function armDeadline(deadline: AbortController, timeoutMs: number): void {
  setTimeout(() => {
    deadline.abort(new ConnectionError('timeout', `the command took longer than ${timeoutMs} ms (--timeout)`))
  }, timeoutMs).unref()
}
