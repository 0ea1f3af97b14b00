import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Source } from '../../../contract/gateway/sources.js'
import { messageOf } from '../../api/client.js'
import { useInvalidate, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatAgo, formatMoment, plural } from '../../ui/format.js'
import { Badge, Notice, type Tone } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import { BrowseSource } from './browse.js'
import { contentTypeOf, kindTitle } from './kinds.js'
import { RemoveSource } from './remove.js'
import { EditSourceDialog, ownMetadata } from './source-form.js'
import { adviceFor, formatSyncCounts, readSyncState, syncNow } from './sync.js'

const SOURCES = 'GET /knowledge-spaces/{id}/sources'
type OpenDialog = 'edit' | 'remove' | 'browse'

/** Card of a source: its state and actions. */
export function SourceCard({ source }: { source: Source }) {
  const [open, setOpen] = useState<OpenDialog>()
  const close = () => setOpen(undefined)
  const facts = readSyncState(source)
  const contentType = contentTypeOf(source)
  const invalidate = useInvalidate()
  const sync = useMutation({
    mutationFn: () => syncNow(source),
    onSuccess: (summary) => showToast(`${source.name}: ${summary}`),
    onSettled: () => invalidate(SOURCES, 'GET /knowledge-spaces/{id}/documents'),
  })
  const isSyncing = sync.isPending || source.status === 'syncing'
  return (
    <li className="source panel">
      <div className="source-head">
        <div className="source-words">
          <h3 className="wrap">{source.name}</h3>
          <p className="small faint mono wrap">{source.uri}</p>
        </div>
        <div className="row">
          <Badge>{kindTitle(source)}</Badge>
          <SourceStatus source={source} isSyncing={isSyncing} />
        </div>
      </div>
      <p className="small muted source-facts">
        {facts.lastAt === undefined ? (
          <span>not read yet</span>
        ) : (
          <span title={formatMoment(facts.lastAt)}>read {formatAgo(facts.lastAt)}</span>
        )}
        {facts.counts !== undefined && <span>{formatSyncCounts(facts.counts)}</span>}
        <span>{facts.policy ?? 'no schedule'}</span>
        {facts.nextAt !== undefined && source.status !== 'disabled' && (
          <span title={formatMoment(facts.nextAt)}>next {formatAgo(facts.nextAt)}</span>
        )}
        {source.permissionScope.length > 0 && <span>for {source.permissionScope.join(', ')}</span>}
      </p>
      {facts.error !== undefined && <SyncProblem error={facts.error} source={source} />}
      {sync.isError && messageOf(sync.error) !== facts.error && (
        <SyncProblem error={messageOf(sync.error)} source={source} />
      )}
      <SyncFailures failures={facts.failures} />
      <SourceActions
        source={source}
        contentType={contentType}
        isSyncing={isSyncing}
        sync={() => sync.mutate()}
        open={setOpen}
      />
      {open === 'edit' && <EditSourceDialog source={source} onClose={close} />}
      {open === 'remove' && <RemoveSource source={source} onClose={close} />}
      {open === 'browse' && <BrowseSource source={source} onClose={close} />}
    </li>
  )
}

function SourceActions({
  source,
  contentType,
  isSyncing,
  sync,
  open,
}: {
  source: Source
  contentType: ReturnType<typeof contentTypeOf>
  isSyncing: boolean
  sync: () => void
  open: (which: OpenDialog) => void
}) {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const update = useWrite('PATCH /knowledge-spaces/{id}/sources/{sourceId}', [SOURCES])
  const test = useWrite('POST /knowledge-spaces/{id}/sources/{sourceId}/test')
  const isPaused = source.status === 'disabled'
  const showError = (error: unknown) => showToast(messageOf(error), 'bad')
  const togglePause = () =>
    update.mutate(
      {
        path,
        body: {
          status: isPaused ? 'active' : 'disabled',
          metadata: ownMetadata(source),
          expectedVersion: source.version,
        },
      },
      { onError: showError },
    )
  const testConnection = () =>
    test.mutate(
      { path },
      {
        onSuccess: ({ valid, error }) =>
          valid
            ? showToast(`${source.name} can be reached`)
            : showToast(`${source.name}: ${error ?? 'cannot be reached'}`, 'bad'),
        onError: showError,
      },
    )
  const isRemote = contentType !== 'nothing'
  return (
    <div className="row source-actions">
      {(contentType === 'files' || contentType === 'pages') && (
        <Button small kind="primary" icon="plus" onClick={() => open('browse')}>
          Choose {contentType}
        </Button>
      )}
      {isRemote && (
        <Button small icon="refresh" busy={isSyncing} disabled={isPaused} onClick={sync}>
          {isSyncing ? 'Reading…' : 'Sync now'}
        </Button>
      )}
      {isRemote && (
        <Button small kind="quiet" busy={test.isPending} onClick={testConnection}>
          Test
        </Button>
      )}
      <Button small kind="quiet" icon={isPaused ? 'play' : 'pause'} busy={update.isPending} onClick={togglePause}>
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

const STATE_LABELS: Readonly<Record<Source['status'], readonly [string, Tone]>> = {
  active: ['active', 'good'],
  syncing: ['reading', 'accent'],
  error: ['error', 'bad'],
  disabled: ['paused', 'warn'],
}

function SourceStatus({ source, isSyncing }: { source: Source; isSyncing: boolean }) {
  const [label, tone] = STATE_LABELS[isSyncing ? 'syncing' : source.status]
  return <Badge tone={tone}>{label}</Badge>
}

function SyncProblem({ error, source }: { error: string; source: Source }) {
  const advice = adviceFor(error, source.type)
  return (
    <Notice tone="bad">
      <p>{error}</p>
      {advice !== undefined && <p className="muted">{advice}</p>}
    </Notice>
  )
}

function SyncFailures({ failures }: { failures: readonly { what: string; why: string }[] }) {
  if (failures.length === 0) return null
  return (
    <details className="source-failures">
      <summary>{plural(failures.length, 'page or file', 'pages or files')} of the last sync failed</summary>
      <ul>
        {failures.map(({ what, why }) => (
          <li key={what} className="small">
            <span className="mono wrap">{what}</span> <span className="muted wrap">{why}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
