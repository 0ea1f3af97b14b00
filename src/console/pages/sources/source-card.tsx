import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Source } from '../../../contract/gateway/sources.js'
import { messageOf } from '../../api/client.js'
import { useInvalidate, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatAgo, formatMoment, plural } from '../../ui/format.js'
import { Badge, Notice, type Tone } from '../../ui/state.js'
import { showError, showToast } from '../../ui/toast.js'
import { BrowseSource } from './browse.js'
import { getContentType, getKindTitle } from './kinds.js'
import { RemoveSource } from './remove.js'
import { EditSourceDialog, getClientMetadata } from './source-form.js'
import { findAdvice, formatSyncCounts, readSyncState, type SyncState, syncNow } from './sync.js'

const SOURCES = 'GET /knowledge-spaces/{id}/sources'
type SourceDialog = 'edit' | 'remove' | 'browse'

/** Card of a source: its state and actions. */
export function SourceCard({ source }: { source: Source }) {
  const [openDialog, setOpenDialog] = useState<SourceDialog>()
  const close = () => setOpenDialog(undefined)
  const syncState = readSyncState(source)
  const invalidate = useInvalidate()
  const sync = useMutation({
    mutationFn: () => syncNow(source),
    onSuccess: (summary) => showToast(`${source.name}: ${summary}`),
    onSettled: () => invalidate(SOURCES, 'GET /knowledge-spaces/{id}/documents'),
  })
  const isSyncing = sync.isPending || source.status === 'syncing'
  const { label, tone } = STATUS_LABELS[isSyncing ? 'syncing' : source.status]
  return (
    <li className="source panel">
      <div className="source-head">
        <div className="source-text">
          <h3 className="wrap">{source.name}</h3>
          <p className="small faint mono wrap">{source.uri}</p>
        </div>
        <div className="row">
          <Badge>{getKindTitle(source)}</Badge>
          <Badge tone={tone}>{label}</Badge>
        </div>
      </div>
      <p className="small muted source-facts">
        {syncState.lastAt === undefined ? (
          <span>not read yet</span>
        ) : (
          <span title={formatMoment(syncState.lastAt)}>read {formatAgo(syncState.lastAt)}</span>
        )}
        {syncState.counts !== undefined && <span>{formatSyncCounts(syncState.counts)}</span>}
        <span>{syncState.schedule ?? 'no schedule'}</span>
        {syncState.nextAt !== undefined && source.status !== 'disabled' && (
          <span title={formatMoment(syncState.nextAt)}>next {formatAgo(syncState.nextAt)}</span>
        )}
        {source.permissionScope.length > 0 && <span>for {source.permissionScope.join(', ')}</span>}
      </p>
      {syncState.error !== undefined && <SyncErrorNotice error={syncState.error} source={source} />}
      {sync.isError && messageOf(sync.error) !== syncState.error && (
        <SyncErrorNotice error={messageOf(sync.error)} source={source} />
      )}
      <SyncFailures failures={syncState.failures} />
      <SourceActions source={source} isSyncing={isSyncing} onSync={() => sync.mutate()} onOpen={setOpenDialog} />
      {openDialog === 'edit' && <EditSourceDialog source={source} onClose={close} />}
      {openDialog === 'remove' && <RemoveSource source={source} onClose={close} />}
      {openDialog === 'browse' && <BrowseSource source={source} onClose={close} />}
    </li>
  )
}

interface SourceActionsProps {
  source: Source
  isSyncing: boolean
  onSync: () => void
  onOpen: (dialog: SourceDialog) => void
}

function SourceActions({ source, isSyncing, onSync, onOpen }: SourceActionsProps) {
  const contentType = getContentType(source)
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const update = useWrite('PATCH /knowledge-spaces/{id}/sources/{sourceId}', [SOURCES])
  const test = useWrite('POST /knowledge-spaces/{id}/sources/{sourceId}/test')
  const isPaused = source.status === 'disabled'
  const togglePause = () =>
    update.mutate(
      {
        path,
        body: {
          status: isPaused ? 'active' : 'disabled',
          metadata: getClientMetadata(source),
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
        <Button small kind="primary" icon="plus" onClick={() => onOpen('browse')}>
          Choose {contentType}
        </Button>
      )}
      {isRemote && (
        <Button small icon="refresh" busy={isSyncing} disabled={isPaused} onClick={onSync}>
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
      <Button small kind="quiet" onClick={() => onOpen('edit')}>
        Edit
      </Button>
      <Button small kind="danger" icon="trash" onClick={() => onOpen('remove')}>
        Remove
      </Button>
    </div>
  )
}

const STATUS_LABELS: Readonly<Record<Source['status'], { label: string; tone: Tone }>> = {
  active: { label: 'active', tone: 'good' },
  syncing: { label: 'reading', tone: 'accent' },
  error: { label: 'error', tone: 'bad' },
  disabled: { label: 'paused', tone: 'warn' },
}

function SyncErrorNotice({ error, source }: { error: string; source: Source }) {
  const advice = findAdvice(error, source.type)
  return (
    <Notice tone="bad">
      <p>{error}</p>
      {advice !== undefined && <p className="muted">{advice}</p>}
    </Notice>
  )
}

function SyncFailures({ failures }: Pick<SyncState, 'failures'>) {
  if (failures.length === 0) return null
  return (
    <details className="source-failures">
      <summary>{plural(failures.length, 'page or file', 'pages or files')} of the last sync failed</summary>
      <ul>
        {failures.map(({ url, reason }) => (
          <li key={url} className="small">
            <span className="mono wrap">{url}</span> <span className="muted wrap">{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
