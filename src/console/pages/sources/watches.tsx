import { type FormEvent, useState } from 'react'
import type { Watch } from '../../../contract/gateway/local-files.js'
import { RequestError } from '../../api/client.js'
import { useRead, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { CheckBox, TextAreaField, TextField } from '../../ui/fields.js'
import { formatAgo, formatMoment, plural, splitTrimmed } from '../../ui/format.js'
import { Dialog, FormActions } from '../../ui/parts.js'
import { Badge, Empty, Loaded, Notice, type Tone } from '../../ui/state.js'
import { showError } from '../../ui/toast.js'
import { RemoveWatch } from './remove.js'

const POLL_MS = 5_000

const STATE_LABELS: Readonly<Record<Watch['state'], readonly [label: string, tone: Tone, advice?: string]>> = {
  starting: ['starting', 'accent'],
  syncing: ['reading', 'accent'],
  watching: ['up to date', 'good'],
  waiting: ['waiting', 'warn', 'It is retried automatically.'],
  'folder-missing': [
    'folder missing',
    'warn',
    'Nothing is removed. When the folder is back, the watch continues automatically.',
  ],
  withheld: [
    'withheld',
    'warn',
    'Files are missing, perhaps because a disk is not mounted. Mount it, or confirm the removal below.',
  ],
  failed: ['failed', 'bad'],
}

/** Watched folders of the daemon's machine for a space; only the operator sees them. */
export function Watches({ spaceId }: { spaceId: string }) {
  const watches = useRead('GET /daemon/watches', {}, { refetchInterval: POLL_MS })
  if (watches.error instanceof RequestError && (watches.error.status === 403 || watches.error.status === 501))
    return <Notice>{watches.error.message}</Notice>
  return (
    <Loaded query={watches}>
      {({ items }) => {
        const watchesOfSpace = items.filter(({ knowledgeSpaceId }) => knowledgeSpaceId === spaceId)
        if (watchesOfSpace.length === 0)
          return (
            <Empty icon="folder" title="No folder is watched">
              <p>A watch keeps the space in sync with a folder on the daemon's machine, including deletions.</p>
            </Empty>
          )
        return (
          <ul className="stack">
            {watchesOfSpace.map((watch) => (
              <WatchCard key={watch.id} watch={watch} />
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}

function WatchCard({ watch }: { watch: Watch }) {
  const [isRemoving, setRemoving] = useState(false)
  const accept = useWrite('POST /daemon/watches', ['GET /daemon/watches'])
  const [label, tone, advice] = STATE_LABELS[watch.state]
  const { knowledgeSpaceId, folder, ignore, glob, hidden, ignoreFiles, onDelete, pollMs } = watch
  const body = { knowledgeSpaceId, folder, ignore, glob, hidden, ignoreFiles, onDelete, acceptMissing: true }
  const acceptMissing = () =>
    accept.mutate({ body: pollMs === undefined ? body : { ...body, pollMs } }, { onError: showError })
  return (
    <li className="source panel">
      <div className="source-head">
        <h3 className="mono wrap source-text">{folder}</h3>
        <Badge tone={tone}>{label}</Badge>
      </div>
      <p className="small muted source-facts">
        {watch.files !== undefined && <span>{plural(watch.files, 'file')}</span>}
        {watch.lastSyncAt !== undefined && (
          <span title={formatMoment(watch.lastSyncAt)}>checked {formatAgo(watch.lastSyncAt)}</span>
        )}
        <span>
          {onDelete === 'remove' ? 'documents of deleted files are removed' : 'documents of deleted files are kept'}
        </span>
        {watch.polledEveryMs !== undefined && <span>polled every {watch.polledEveryMs / 1000} s</span>}
        {glob.length > 0 && <span>only {glob.join(', ')}</span>}
        {ignore.length > 0 && <span>without {ignore.join(', ')}</span>}
      </p>
      {(watch.detail !== undefined || advice !== undefined) && (
        <Notice tone={tone === 'bad' ? 'bad' : 'warn'}>
          {watch.detail !== undefined && <p>{watch.detail}</p>}
          {advice !== undefined && <p className="muted">{advice}</p>}
        </Notice>
      )}
      <div className="row source-actions">
        {watch.state === 'withheld' && (
          <Button small busy={accept.isPending} onClick={acceptMissing}>
            Remove the missing files
          </Button>
        )}
        <Button small kind="danger" icon="trash" onClick={() => setRemoving(true)}>
          Stop watching
        </Button>
      </div>
      {isRemoving && <RemoveWatch watch={watch} onClose={() => setRemoving(false)} />}
    </li>
  )
}

/** Dialog with the form of a new watch. */
export function NewWatchDialog({ spaceId, onClose }: { spaceId: string; onClose: () => void }) {
  const add = useWrite('POST /daemon/watches', ['GET /daemon/watches'])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const listLines = (name: string) => splitTrimmed(String(data.get(name) ?? ''), '\n')
    const body = {
      knowledgeSpaceId: spaceId,
      folder: String(data.get('folder') ?? '').trim(),
      glob: listLines('glob'),
      ignore: listLines('ignore'),
      hidden: data.has('hidden'),
      onDelete: data.has('keeps') ? ('keep' as const) : ('remove' as const),
    }
    add.mutate({ body }, { onSuccess: onClose })
  }
  return (
    <Dialog title="Watch a folder" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Folder"
          hint="Absolute path on the machine where the daemon runs."
          className="mono"
          name="folder"
          required
          placeholder="/home/me/notes"
          maxLength={4096}
        />
        <div className="field-row">
          <TextAreaField
            label="Only these files"
            hint="One pattern per line, such as *.md. Empty: all files."
            className="mono"
            name="glob"
            rows={2}
          />
          <TextAreaField
            label="Not these files"
            hint="One pattern per line, such as drafts/."
            className="mono"
            name="ignore"
            rows={2}
          />
        </div>
        <CheckBox name="hidden">Include hidden files</CheckBox>
        <CheckBox name="keeps">Keep the documents of deleted files</CheckBox>
        <FormActions mutation={add} label="Watch" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
