import '../../style/forms.css'
import './sources.css'
import { useState } from 'react'
import { useSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { NoSpace } from '../../ui/no-space.js'
import { PageHead } from '../../ui/parts.js'
import { Empty, Loaded, Notice } from '../../ui/state.js'
import { SourceCard } from './source-card.js'
import { NewSource } from './source-form.js'
import { NewWatch, Watches } from './watches.js'

const BUSY_MS = 2_000
const REST_MS = 15_000

/** Page of a space's sources and watched folders. */
export function Sources() {
  const chosen = useSpace()
  const { space } = chosen
  if (space !== undefined) return <Following key={space.id} spaceId={space.id} name={space.name} />
  return (
    <>
      <PageHead title="Sources and watches" />
      <NoSpace of={chosen} icon="sources">
        A source belongs to a space.
      </NoSpace>
    </>
  )
}

function Following({ spaceId, name }: { spaceId: string; name: string }) {
  const [adds, setAdds] = useState<'source' | 'watch'>()
  const sources = useRead(
    'GET /knowledge-spaces/{id}/sources',
    { path: { id: spaceId }, query: { limit: 200 } },
    { every: (last) => (last?.items.some(({ status }) => status === 'syncing') === true ? BUSY_MS : REST_MS) },
  )
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setAdds('source')}>
      Add a source
    </Button>
  )
  return (
    <>
      <PageHead title="Sources and watches" lead={`Sources and watched folders of ${name}, and their last syncs.`} actions={add} />
      <section className="stack" aria-label="Sources">
        <Loaded of={sources} lines={6}>
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
          <Button icon="folder" onClick={() => setAdds('watch')}>
            Watch a folder
          </Button>
        </div>
        <Watches spaceId={spaceId} />
      </section>
      {adds === 'source' && <NewSource spaceId={spaceId} onClose={() => setAdds(undefined)} />}
      {adds === 'watch' && <NewWatch spaceId={spaceId} onClose={() => setAdds(undefined)} />}
    </>
  )
}
