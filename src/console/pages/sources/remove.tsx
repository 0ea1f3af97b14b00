import { useState } from 'react'
import type { Watch } from '../../../contract/gateway/local-files.js'
import type { Source } from '../../../contract/gateway/sources.js'
import { useRead, useWrite } from '../../api/use.js'
import { plural } from '../../ui/format.js'
import { ConfirmDialog } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'

/** Maximum number of documents that are counted; above it the text is "100 or more". */
const MAX_COUNTED = 100

/** Dialog that removes a source after a choice: with its documents, or without them. */
export function RemoveSource({ source, onClose }: { source: Source; onClose: () => void }) {
  const [documents, setDocuments] = useState<'cascade' | 'keep'>('cascade')
  const path = { id: source.knowledgeSpaceId }
  const sourceDocuments = useRead('GET /knowledge-spaces/{id}/fs/find', {
    path,
    query: { path: `/sources/${source.id}`, resourceType: 'document', limit: MAX_COUNTED },
  })
  const remove = useWrite('DELETE /knowledge-spaces/{id}/sources/{sourceId}', [
    'GET /knowledge-spaces/{id}/sources',
    'GET /knowledge-spaces/{id}/documents',
    'GET /knowledge-spaces/{id}/stats',
  ])
  const count = sourceDocuments.data?.items.length ?? 0
  const documentsText =
    count === 0
      ? 'its documents'
      : count >= MAX_COUNTED
        ? `its ${MAX_COUNTED} or more documents`
        : `its ${plural(count, 'document')}`
  const onRemoved = () => {
    showToast(
      documents === 'cascade' ? `${source.name} and ${documentsText} were removed` : `${source.name} was removed`,
    )
    onClose()
  }
  return (
    <ConfirmDialog
      title={`Remove ${source.name}?`}
      mutation={remove}
      label="Remove"
      icon="trash"
      onClick={() =>
        remove.mutate({ path: { ...path, sourceId: source.id }, query: { documents } }, { onSuccess: onRemoved })
      }
      onClose={onClose}
    >
      <p>Its address, schedule and stored credentials are deleted, and it is no longer read. This cannot be undone.</p>
      <fieldset className="choices">
        <legend className="sr-only">Documents</legend>
        <label className="choice">
          <input
            type="radio"
            name="documents"
            checked={documents === 'cascade'}
            onChange={() => setDocuments('cascade')}
          />
          <span>
            <strong>Remove {documentsText} too</strong>
            <span className="muted small">
              with everything derived from them: passages, pictures, entities, vectors
            </span>
          </span>
        </label>
        <label className="choice">
          <input type="radio" name="documents" checked={documents === 'keep'} onChange={() => setDocuments('keep')} />
          <span>
            <strong>Keep the documents</strong>
            <span className="muted small">they stay available for questions and are no longer updated</span>
          </span>
        </label>
      </fieldset>
    </ConfirmDialog>
  )
}

/** Dialog that stops the watch of a folder. */
export function RemoveWatch({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const remove = useWrite('DELETE /daemon/watches/{watchId}', ['GET /daemon/watches'])
  const onRemoved = () => {
    showToast('The folder is no longer watched; its documents are kept.')
    onClose()
  }
  return (
    <ConfirmDialog
      title="Stop watching this folder?"
      mutation={remove}
      label="Stop watching"
      onClick={() => remove.mutate({ path: { watchId: watch.id } }, { onSuccess: onRemoved })}
      onClose={onClose}
    >
      <p className="mono wrap">{watch.folder}</p>
      <p>Its documents stay in the space. Later changes in the folder are ignored.</p>
    </ConfirmDialog>
  )
}
