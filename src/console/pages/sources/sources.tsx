import '../../style/forms.css'
import './sources.css'
import { useState } from 'react'
import { useSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { NoSpacePage } from '../../ui/no-space.js'
import { PageHead } from '../../ui/parts.js'
import { Empty, Loaded, Notice } from '../../ui/state.js'
import { SourceCard } from './source-card.js'
import { NewSourceDialog } from './source-form.js'
import { NewWatchDialog, Watches } from './watches.js'

const SYNCING_POLL_MS = 2_000
const IDLE_POLL_MS = 15_000

/** Page of a space's sources and watched folders. */
export function Sources() {
  const selection = useSpace()
  const { space } = selection
  if (space !== undefined) return <SpaceSources key={space.id} spaceId={space.id} name={space.name} />
  return (
    <NoSpacePage title="Sources and watches" selection={selection} icon="sources">
      A source belongs to a space.
    </NoSpacePage>
  )
}

function SpaceSources({ spaceId, name }: { spaceId: string; name: string }) {
  const [openForm, setOpenForm] = useState<'source' | 'watch'>()
  const sources = useRead(
    'GET /knowledge-spaces/{id}/sources',
    { path: { id: spaceId }, query: { limit: 200 } },
    {
      refetchInterval: (last) =>
        last?.items.some(({ status }) => status === 'syncing') === true ? SYNCING_POLL_MS : IDLE_POLL_MS,
    },
  )
  const addButton = (
    <Button kind="primary" icon="plus" onClick={() => setOpenForm('source')}>
      Add a source
    </Button>
  )
  return (
    <>
      <PageHead
        title="Sources and watches"
        lead={`Sources and watched folders of ${name}, and their last syncs.`}
        actions={addButton}
      />
      <section className="stack" aria-label="Sources">
        <Loaded query={sources} lines={6}>
          {({ items, nextCursor }) =>
            items.length === 0 ? (
              <Empty icon="sources" title="No source yet">
                <p>A web site, a drive or a repository that is read, now and on a schedule.</p>
              </Empty>
            ) : (
              <>
                <ul className="stack">
                  {items.map((source) => (
                    <SourceCard key={source.id} source={source} />
                  ))}
                </ul>
                {nextCursor !== undefined && (
                  <Notice>
                    These are the 200 oldest. <code>ks sources</code> lists them all.
                  </Notice>
                )}
              </>
            )
          }
        </Loaded>
      </section>
      <section className="stack sources-part" aria-label="Watched folders">
        <div className="panel-head">
          <h2>Watched folders</h2>
          <Button icon="folder" onClick={() => setOpenForm('watch')}>
            Watch a folder
          </Button>
        </div>
        <Watches spaceId={spaceId} />
      </section>
      {openForm === 'source' && <NewSourceDialog spaceId={spaceId} onClose={() => setOpenForm(undefined)} />}
      {openForm === 'watch' && <NewWatchDialog spaceId={spaceId} onClose={() => setOpenForm(undefined)} />}
    </>
  )
}
