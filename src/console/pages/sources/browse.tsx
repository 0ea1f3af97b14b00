import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Source } from '../../../contract/gateway/sources.js'
import { call } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { useForget } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatBytes, plural } from '../../ui/format.js'
import { Icon } from '../../ui/icon.js'
import { Dialog, FormEnd } from '../../ui/parts.js'
import { Badge, Loaded } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { readsOf } from './kinds.js'
import { importFiles, importPages, listPages } from './sync.js'

interface Item {
  id: string
  name: string
  detail?: string
  /** opens the list below this item */
  folder?: Place
  bucket?: string
  page?: Awaited<ReturnType<typeof listPages>>[number]
}
interface Place {
  bucket?: string
  prefix?: string
}

/** Dialog to select files of a drive or pages of an online service for import. */
export function Browse({ source, onClose }: { source: Source; onClose: () => void }) {
  const isPages = readsOf(source) === 'pages'
  const [way, setWay] = useState<readonly Place[]>([{}])
  const here = way.at(-1) ?? {}
  const [chosen, setChosen] = useState<ReadonlyMap<string, Item>>(new Map())
  const forget = useForget()
  const items = useQuery({
    queryKey: ['browse', source.id, here],
    queryFn: () => (isPages ? pagesOf(source) : filesOf(source, here)),
    retry: false,
  })
  const take = useMutation({
    mutationFn: () => {
      const all = [...chosen.values()]
      if (isPages)
        return importPages(
          source,
          all.flatMap(({ page }) => page ?? []),
        )
      return importFiles(
        source,
        all.map(({ id, name, bucket }) => ({ id, name, ...(bucket === undefined ? {} : { bucket }) })),
      )
    },
    onSuccess: (said) => {
      say(`${source.name}: ${said}`)
      onClose()
    },
    onSettled: () => forget('GET /knowledge-spaces/{id}/sources', 'GET /knowledge-spaces/{id}/documents'),
  })
  const known = isRecord(source.metadata.imported)
    ? source.metadata.imported
    : isRecord(source.metadata.importedFiles)
      ? source.metadata.importedFiles
      : {}
  const flip = (item: Item) => {
    const next = new Map(chosen)
    if (!next.delete(item.id)) next.set(item.id, item)
    setChosen(next)
  }
  return (
    <Dialog side title={`${isPages ? 'Pages' : 'Files'} of ${source.name}`} onClose={onClose}>
      <div className="stack">
        {way.length > 1 && (
          <div className="row">
            <Button small icon="back" onClick={() => setWay(way.slice(0, -1))}>
              Back
            </Button>
            <span className="mono wrap small">{here.prefix ?? here.bucket}</span>
          </div>
        )}
        <Loaded of={items} lines={6}>
          {(found) => (
            <>
              {found.length === 0 && <p className="muted">This folder is empty.</p>}
              <ul className="browse">
                {found.map((item) => (
                  <li key={item.id}>
                    {item.folder === undefined ? (
                      <label className="browse-item">
                        <input type="checkbox" checked={chosen.has(item.id)} onChange={() => flip(item)} />
                        <span className="wrap">{item.name}</span>
                        {item.detail !== undefined && <span className="faint small">{item.detail}</span>}
                        {Object.hasOwn(known, item.id) && <Badge tone="good">imported</Badge>}
                      </label>
                    ) : (
                      <button
                        type="button"
                        className="browse-item"
                        onClick={() => item.folder !== undefined && setWay([...way, item.folder])}
                      >
                        <Icon name="folder" />
                        <span className="wrap">{item.name}</span>
                      </button>
                    )}
                  </li>
                ))}
              </ul>
            </>
          )}
        </Loaded>
        <div className="browse-end">
          <FormEnd of={take} label="Import" disabled={chosen.size === 0} onClick={() => take.mutate()}>
            <span className="muted small">{plural(chosen.size, 'item')} selected</span>
          </FormEnd>
        </div>
      </div>
    </Dialog>
  )
}

async function pagesOf(source: Source): Promise<Item[]> {
  return (await listPages(source)).map((page) => ({ id: page.pageId, name: page.name, page }))
}

async function filesOf(source: Source, { bucket, prefix }: Place): Promise<Item[]> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const query = { ...(bucket === undefined ? {} : { bucket }), ...(prefix === undefined ? {} : { prefix }) }
  const { buckets } = await call('GET /knowledge-spaces/{id}/sources/{sourceId}/files', { path, query })
  return buckets.flatMap(({ bucket: within, files }): Item[] => {
    const inBucket = within === undefined ? {} : { bucket: within }
    // without a requested bucket the source lists its buckets, each without files
    if (files.length === 0 && within !== undefined && bucket === undefined && prefix === undefined)
      return [{ id: within, name: within, folder: inBucket }]
    return files.map(({ id, name, type, size }) => ({
      id,
      name,
      ...inBucket,
      ...(size === undefined ? {} : { detail: formatBytes(size) }),
      ...(type === 'folder' ? { folder: { ...inBucket, prefix: id } } : {}),
    }))
  })
}
