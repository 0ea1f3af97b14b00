import type { Client } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { paginate } from '../../client/pages.js'
import { EXIT } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import { usageError } from '../cli-error.js'
import type { OutputColumn } from '../columns.js'
import type { Output } from '../output.js'
import { toErrorReport } from '../report-error.js'

/** A line of a summary: what was done in a space, or why nothing could be done. */
type SpaceSummary<T> = { space: string; id: string } & (T | { state: 'failed'; error: string })

/** @throws CliError exit 2 if a space is named, too */
export function checkEverySpace(named: string | undefined): void {
  if (named !== undefined) throw usageError('`--all` means every space: name none', 'omit the space, or `--all`')
}

/**
 * Does the same in every space that the token may see and prints a line for each; a space that the service cannot work
 * on does not prevent the others.
 *
 * @param visit returns the line, and the exit code of the space
 * @returns the lines, and the highest exit code
 */
export async function summarizeSpaces<T extends object>(
  { client, out }: { client: Client; out: Output },
  columns: readonly OutputColumn[],
  visit: (id: string) => Promise<{ line: T; exit: number }>,
): Promise<{ lines: T[]; exit: number }> {
  const lines: T[] = []
  const failures: string[] = []
  let exit: number = EXIT.ok
  async function* visitAll(): AsyncGenerator<SpaceSummary<T>> {
    const spaces = paginate((query) => client.request('GET /knowledge-spaces', { query }), {
      pageSize: LIMITS.page.cap,
    })
    for await (const { id, slug } of spaces) {
      try {
        const visited = await visit(id)
        lines.push(visited.line)
        exit = Math.max(exit, visited.exit)
        yield { space: slug, id, ...visited.line }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const report = toErrorReport(error)
        exit = Math.max(exit, report.exitCode)
        failures.push(`ks: ${slug}: ${report.message}`)
        yield { space: slug, id, state: 'failed', error: report.message }
      }
    }
  }
  await out.list(visitAll(), {
    columns: [{ field: 'space', kind: 'name' }, { field: 'state', kind: 'state' }, ...columns],
    empty: 'There are no spaces.',
  })
  for (const failure of failures) out.warn(failure)
  return { lines, exit }
}
