import './spaces.css'
import { useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useSpaces } from '../../api/space.js'
import { Button } from '../../ui/button.js'
import { PageHead } from '../../ui/parts.js'
import { Empty, Loaded } from '../../ui/state.js'
import { AddDocuments } from './add-documents.js'
import { NewSpaceDialog } from './new-space.js'
import { SpaceCard } from './space-card.js'

/** Page of all spaces. */
export function Spaces() {
  const spaces = useSpaces()
  const [isNew, setNew] = useState(false)
  const [created, setCreated] = useState<KnowledgeSpace>()
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
      New space
    </Button>
  )
  return (
    <>
      <PageHead
        title="Spaces"
        lead="Each space holds the documents of one subject and answers questions about them."
        actions={(spaces.data?.items.length ?? 0) > 0 && create}
      />
      <Loaded query={spaces} lines={8}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="spaces" title="No spaces yet">
              <p>Create one and drop a folder of documents on it: PDFs, office files, mail, web pages, notes.</p>
              {create}
            </Empty>
          ) : (
            <ul className="space-grid">
              {items.map((space) => (
                <SpaceCard key={space.id} space={space} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isNew && <NewSpaceDialog onClose={() => setNew(false)} onCreated={setCreated} />}
      {created !== undefined && <AddDocuments space={created} onClose={() => setCreated(undefined)} />}
    </>
  )
}
