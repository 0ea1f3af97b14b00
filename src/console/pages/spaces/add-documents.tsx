import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { Dialog } from '../../ui/parts.js'
import { Drop } from './upload/drop.js'
import { Progress } from './upload/progress.js'
import { addFiles } from './upload/queue.js'

/** Dialog to add files and folders to a space. Uploads continue after it is closed. */
export function AddDocuments({ space, onClose }: { space: KnowledgeSpace; onClose: () => void }) {
  return (
    <Dialog title={`Add documents to ${space.name}`} onClose={onClose}>
      <div className="stack">
        <Drop onFiles={(files) => addFiles(space.id, files)} />
        <Progress spaceId={space.id} />
        <p className="faint small">
          You may close this dialog: uploads continue while this tab is open. Very large folders are faster with{' '}
          <code>ks ingest</code>.
        </p>
      </div>
    </Dialog>
  )
}
