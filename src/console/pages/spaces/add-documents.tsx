import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { Dialog } from '../../ui/parts.js'
import { DropZone } from './upload/drop-zone.js'
import { UploadProgress } from './upload/progress.js'
import { addFiles } from './upload/queue.js'

/** Dialog to add files and folders to a space. Uploads continue after it is closed. */
export function AddDocuments({ space, onClose }: { space: KnowledgeSpace; onClose: () => void }) {
  return (
    <Dialog title={`Add documents to ${space.name}`} onClose={onClose}>
      <div className="stack">
        <DropZone onFiles={(files) => addFiles(space.id, files)} />
        <UploadProgress spaceId={space.id} />
        <p className="faint small">
          You may close this dialog: uploads continue while this tab is open. Very large folders are faster with{' '}
          <code>ks ingest</code>.
        </p>
      </div>
    </Dialog>
  )
}
