import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Source } from '../../../contract/gateway/sources.js'
import { call } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { useInvalidate } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatBytes, plural } from '../../ui/format.js'
import { Icon } from '../../ui/icon.js'
import { Dialog, FormActions } from '../../ui/parts.js'
import { Badge, Loaded } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import { getContentType } from './kinds.js'
import { importFiles, importPages, listPages } from './sync.js'

interface BrowseItem {
  id: string
  name: string
  /** size of a file */
  detail?: string
  /** location of a folder's items; absent for a file or page */
  folder?: BrowseLocation
  bucket?: string
  page?: Awaited<ReturnType<typeof listPages>>[number]
}
/** Folder of a drive; without fields its root. */
interface BrowseLocation {
  bucket?: string
  prefix?: string
}

/** Dialog to select files of a drive or pages of an online service for import. */
export function BrowseSource({ source, onClose }: { source: Source; onClose: () => void }) {
  const isPages = getContentType(source) === 'pages'
  /** the opened folders, the root first */
  const [path, setPath] = useState<readonly BrowseLocation[]>([{}])
  const current = path.at(-1) ?? {}
  const [selected, setSelected] = useState<ReadonlyMap<string, BrowseItem>>(new Map())
  const invalidate = useInvalidate()
  const items = useQuery({
    queryKey: ['browse', source.id, current],
    queryFn: () => (isPages ? listPageItems(source) : listFileItems(source, current)),
    retry: false,
  })
  const importSelected = useMutation({
    mutationFn: () => {
      const selectedItems = [...selected.values()]
      const pages = selectedItems.flatMap(({ page }) => page ?? [])
      const files = selectedItems.map(({ id, name, bucket }) => ({
        id,
        name,
        ...(bucket === undefined ? {} : { bucket }),
      }))
      return isPages ? importPages(source, pages) : importFiles(source, files)
    },
    onSuccess: (summary) => {
      showToast(`${source.name}: ${summary}`)
      onClose()
    },
    onSettled: () => invalidate('GET /knowledge-spaces/{id}/sources', 'GET /knowledge-spaces/{id}/documents'),
  })
  const { imported, importedFiles } = source.metadata
  const importedById = isRecord(imported) ? imported : isRecord(importedFiles) ? importedFiles : {}
  const toggle = (item: BrowseItem) => {
    const next = new Map(selected)
    if (!next.delete(item.id)) next.set(item.id, item)
    setSelected(next)
  }
  return (
    <Dialog side title={`${isPages ? 'Pages' : 'Files'} of ${source.name}`} onClose={onClose}>
      <div className="stack">
        {path.length > 1 && (
          <div className="row">
            <Button small icon="back" onClick={() => setPath(path.slice(0, -1))}>
              Back
            </Button>
            <span className="mono wrap small">{current.prefix ?? current.bucket}</span>
          </div>
        )}
        <Loaded query={items} lines={6}>
          {(listed) => (
            <>
              {listed.length === 0 && <p className="muted">This folder is empty.</p>}
              <ul className="browse">
                {listed.map((item) => (
                  <li key={item.id}>
                    {item.folder === undefined ? (
                      <label className="browse-item">
                        <input type="checkbox" checked={selected.has(item.id)} onChange={() => toggle(item)} />
                        <span className="wrap">{item.name}</span>
                        {item.detail !== undefined && <span className="faint small">{item.detail}</span>}
                        {Object.hasOwn(importedById, item.id) && <Badge tone="good">imported</Badge>}
                      </label>
                    ) : (
                      <button
                        type="button"
                        className="browse-item"
                        onClick={() => item.folder !== undefined && setPath([...path, item.folder])}
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
          <FormActions
            mutation={importSelected}
            label="Import"
            disabled={selected.size === 0}
            onClick={() => importSelected.mutate()}
          >
            <span className="muted small">{plural(selected.size, 'item')} selected</span>
          </FormActions>
        </div>
      </div>
    </Dialog>
  )
}

async function listPageItems(source: Source): Promise<BrowseItem[]> {
  return (await listPages(source)).map((page) => ({ id: page.pageId, name: page.name, page }))
}

async function listFileItems(source: Source, { bucket, prefix }: BrowseLocation): Promise<BrowseItem[]> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const query = { ...(bucket === undefined ? {} : { bucket }), ...(prefix === undefined ? {} : { prefix }) }
  const { buckets } = await call('GET /knowledge-spaces/{id}/sources/{sourceId}/files', { path, query })
  return buckets.flatMap(({ bucket: bucketName, files }): BrowseItem[] => {
    const inBucket = bucketName === undefined ? {} : { bucket: bucketName }
    // without a requested bucket the source lists its buckets, each without files
    if (files.length === 0 && bucketName !== undefined && bucket === undefined && prefix === undefined)
      return [{ id: bucketName, name: bucketName, folder: inBucket }]
    return files.map(({ id, name, type, size }) => ({
      id,
      name,
      ...inBucket,
      ...(size === undefined ? {} : { detail: formatBytes(size) }),
      ...(type === 'folder' ? { folder: { ...inBucket, prefix: id } } : {}),
    }))
  })
}
