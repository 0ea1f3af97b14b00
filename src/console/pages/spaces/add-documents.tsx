import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { Dialog } from '../../ui/parts.js'
import { Drop } from './upload/drop.js'
import { Progress } from './upload/progress.js'
import { addFiles } from './upload/queue.js'

/** Files and folders into a space. It may be closed: what was given goes on. */
export function AddDocuments({ space, onClose }: { space: KnowledgeSpace; onClose: () => void }) {
  return (
    <Dialog title={`Add documents to ${space.name}`} onClose={onClose}>
      <div className="stack">
        <Drop onFiles={(files) => addFiles(space.id, files)} />
        <Progress spaceId={space.id} />
        <p className="faint small">
          You may close this; what was dropped goes on while this tab is open. Very large folders are quicker with{' '}
          <code>ks ingest</code>.
        </p>
      </div>
    </Dialog>
  )
}
