import { useMutation } from '@tanstack/react-query'
import type { GcCandidate, GcExecuted } from '../../../contract/gateway/integrity.js'
import { LIMITS } from '../../../contract/limits.js'
import { call } from '../../api/client.js'
import { Button } from '../../ui/button.js'
import { formatBytes, formatCount, plural } from '../../ui/format.js'
import { Panel } from '../../ui/parts.js'
import { ErrorNotice, Notice } from '../../ui/state.js'

const MAX_BATCH = LIMITS.gcCandidates
const MAX_LISTED = 200

/** Panel that lists unreferenced objects and removes them after confirmation. */
export function CleanSpace({ spaceId }: { spaceId: string }) {
  const list = useMutation({ mutationFn: () => listCandidates(spaceId) })
  const execute = useMutation({ mutationFn: (confirmed: readonly GcCandidate[]) => removeAll(spaceId, confirmed) })
  const candidates = execute.data === undefined ? list.data : undefined
  const totalBytes = candidates?.reduce((sum, { estimatedBytes }) => sum + estimatedBytes, 0) ?? 0
  return (
    <Panel title="Clean up">
      <div className="stack">
        <p className="muted">
          Leftovers of interrupted uploads and failed commits, old parse results and projections. The dry run removes
          nothing.
        </p>
        <div className="row">
          <Button
            kind="primary"
            busy={list.isPending}
            onClick={() => {
              execute.reset()
              list.mutate()
            }}
          >
            Dry run
          </Button>
        </div>
        {list.isError && <ErrorNotice error={list.error} />}
        {execute.isError && <ErrorNotice error={execute.error} />}
        {execute.data !== undefined && (
          <Notice tone="good">
            {formatCount(execute.data.deleted)} removed
            {execute.data.skipped > 0 && `, ${execute.data.skipped} skipped because they are in use`}.
          </Notice>
        )}
        {candidates?.length === 0 && <Notice tone="good">There is nothing to remove.</Notice>}
        {candidates !== undefined && candidates.length > 0 && (
          <>
            <Notice
              tone="warn"
              action={
                <Button
                  small
                  kind="danger"
                  icon="trash"
                  busy={execute.isPending}
                  onClick={() => execute.mutate(candidates)}
                >
                  Remove {plural(candidates.length, 'entry', 'entries')}
                </Button>
              }
            >
              {plural(candidates.length, 'entry', 'entries')}, about {formatBytes(totalBytes)}. Each is checked again
              before removal.
            </Notice>
            <ul className="issues">
              {candidates.slice(0, MAX_LISTED).map((candidate) => (
                <li key={candidate.idempotencyKey} className="issue">
                  <p>
                    <strong>{candidate.candidateType.replaceAll('-', ' ')}</strong>{' '}
                    <span className="faint number">{formatBytes(candidate.estimatedBytes)}</span>
                  </p>
                  <p className="small muted wrap">{candidate.reason}</p>
                </li>
              ))}
            </ul>
            {candidates.length > MAX_LISTED && <p className="small faint">The first {MAX_LISTED} of them.</p>}
          </>
        )}
      </div>
    </Panel>
  )
}

async function listCandidates(id: string): Promise<GcCandidate[]> {
  const candidates: GcCandidate[] = []
  let cursor: string | undefined
  do {
    const page = await call('GET /knowledge-spaces/{id}/gc/staged-objects', {
      path: { id },
      query: cursor === undefined ? {} : { cursor },
    })
    candidates.push(...page.candidates)
    cursor = page.cursor
  } while (cursor !== undefined)
  return candidates
}

async function removeAll(
  id: string,
  candidates: readonly GcCandidate[],
): Promise<Pick<GcExecuted, 'deleted' | 'skipped'>> {
  const total = { deleted: 0, skipped: 0 }
  for (let start = 0; start < candidates.length; start += MAX_BATCH) {
    const body = { candidates: candidates.slice(start, start + MAX_BATCH) }
    const result = await call('POST /knowledge-spaces/{id}/gc/staged-objects/execute', { path: { id }, body })
    total.deleted += result.deleted
    total.skipped += result.skipped
  }
  return total
}
