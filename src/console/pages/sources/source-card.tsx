import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Source } from '../../../contract/gateway/sources.js'
import { messageOf } from '../../api/client.js'
import { useForget, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatAgo, formatMoment, plural } from '../../ui/format.js'
import { Badge, Notice, type Tone } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { Browse } from './browse.js'
import { kindOf, readsOf } from './kinds.js'
import { RemoveSource } from './remove.js'
import { EditSource, ownMetadata } from './source-form.js'
import { adviceOn, factsOf, outcome, syncNow } from './sync.js'

const SOURCES = 'GET /knowledge-spaces/{id}/sources'
type Open = 'edit' | 'remove' | 'browse'

/** Card of a source: its state and actions. */
export function SourceCard({ source }: { source: Source }) {
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const facts = factsOf(source)
  const reads = readsOf(source)
  const forget = useForget()
  const sync = useMutation({
    mutationFn: () => syncNow(source),
    onSuccess: (said) => say(`${source.name}: ${said}`),
    onSettled: () => forget(SOURCES, 'GET /knowledge-spaces/{id}/documents'),
  })
  const isAtWork = sync.isPending || source.status === 'syncing'
  return (
    <li className="source panel">
      <div className="source-head">
        <div className="source-words">
          <h3 className="wrap">{source.name}</h3>
          <p className="small faint mono wrap">{source.uri}</p>
        </div>
        <div className="row">
          <Badge>{kindOf(source)}</Badge>
          <Status source={source} isAtWork={isAtWork} />
        </div>
      </div>
      <p className="small muted source-facts">
        {facts.lastAt === undefined ? (
          <span>not read yet</span>
        ) : (
          <span title={formatMoment(facts.lastAt)}>read {formatAgo(facts.lastAt)}</span>
        )}
        {facts.counts !== undefined && <span>{outcome(facts.counts)}</span>}
        <span>{facts.policy ?? 'no schedule'}</span>
        {facts.nextAt !== undefined && source.status !== 'disabled' && (
          <span title={formatMoment(facts.nextAt)}>next {formatAgo(facts.nextAt)}</span>
        )}
        {source.permissionScope.length > 0 && <span>for {source.permissionScope.join(', ')}</span>}
      </p>
      {facts.error !== undefined && <Problem error={facts.error} source={source} />}
      {sync.isError && messageOf(sync.error) !== facts.error && (
        <Problem error={messageOf(sync.error)} source={source} />
      )}
      <Failures of={facts.failures} />
      <Actions source={source} reads={reads} isAtWork={isAtWork} sync={() => sync.mutate()} open={setOpen} />
      {open === 'edit' && <EditSource source={source} onClose={close} />}
      {open === 'remove' && <RemoveSource source={source} onClose={close} />}
      {open === 'browse' && <Browse source={source} onClose={close} />}
    </li>
  )
}

function Actions({
  source,
  reads,
  isAtWork,
  sync,
  open,
}: {
  source: Source
  reads: ReturnType<typeof readsOf>
  isAtWork: boolean
  sync: () => void
  open: (which: Open) => void
}) {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const update = useWrite('PATCH /knowledge-spaces/{id}/sources/{sourceId}', [SOURCES])
  const test = useWrite('POST /knowledge-spaces/{id}/sources/{sourceId}/test')
  const isPaused = source.status === 'disabled'
  const told = (error: unknown) => say(messageOf(error), 'bad')
  const pause = () =>
    update.mutate(
      {
        path,
        body: {
          status: isPaused ? 'active' : 'disabled',
          metadata: ownMetadata(source),
          expectedVersion: source.version,
        },
      },
      { onError: told },
    )
  const tryOut = () =>
    test.mutate(
      { path },
      {
        onSuccess: ({ valid, error }) =>
          valid ? say(`${source.name} can be reached`) : say(`${source.name}: ${error ?? 'cannot be reached'}`, 'bad'),
        onError: told,
      },
    )
  const remote = reads !== 'nothing'
  return (
    <div className="row source-actions">
      {(reads === 'files' || reads === 'pages') && (
        <Button small kind="primary" icon="plus" onClick={() => open('browse')}>
          Choose {reads}
        </Button>
      )}
      {remote && (
        <Button small icon="refresh" busy={isAtWork} disabled={isPaused} onClick={sync}>
          {isAtWork ? 'Reading…' : 'Sync now'}
        </Button>
      )}
      {remote && (
        <Button small kind="quiet" busy={test.isPending} onClick={tryOut}>
          Test
        </Button>
      )}
      <Button small kind="quiet" icon={isPaused ? 'play' : 'pause'} busy={update.isPending} onClick={pause}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button small kind="quiet" onClick={() => open('edit')}>
        Edit
      </Button>
      <Button small kind="danger" icon="trash" onClick={() => open('remove')}>
        Remove
      </Button>
    </div>
  )
}

const STATES: Readonly<Record<Source['status'], readonly [string, Tone]>> = {
  active: ['active', 'good'],
  syncing: ['reading', 'accent'],
  error: ['error', 'bad'],
  disabled: ['paused', 'warn'],
}

function Status({ source, isAtWork }: { source: Source; isAtWork: boolean }) {
  const [words, tone] = STATES[isAtWork ? 'syncing' : source.status]
  return <Badge tone={tone}>{words}</Badge>
}

function Problem({ error, source }: { error: string; source: Source }) {
  const advice = adviceOn(error, source.type)
  return (
    <Notice tone="bad">
      <p>{error}</p>
      {advice !== undefined && <p className="muted">{advice}</p>}
    </Notice>
  )
}

function Failures({ of }: { of: readonly { what: string; why: string }[] }) {
  if (of.length === 0) return null
  return (
    <details className="source-failures">
      <summary>{plural(of.length, 'page or file', 'pages or files')} of the last sync failed</summary>
      <ul>
        {of.map(({ what, why }) => (
          <li key={what} className="small">
            <span className="mono wrap">{what}</span> <span className="muted wrap">{why}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
