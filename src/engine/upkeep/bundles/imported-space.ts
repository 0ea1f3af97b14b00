import { DEFAULT_POLICIES } from '../../library/index.js'
import type { ImportedSpace } from '../rows/bundles/imports.js'
import { type BundleLine, toCheckedNumber, toCheckedText } from './rows.js'

/** The row of a space from a checked line. @param slug instead of its own */
export function toImportedSpace(line: BundleLine, tenant: string, slug: string | undefined): ImportedSpace {
  const text = (name: string) => toCheckedText(line[name])
  const number = (name: string) => toCheckedNumber(line[name])
  const optional = (name: string) => (line[name] === undefined ? null : toCheckedNumber(line[name]))
  return {
    tenant,
    id: text('id'),
    name: text('name'),
    slug: slug ?? text('slug'),
    description: line.description === undefined ? null : text('description'),
    created_at: number('created_at'),
    updated_at: number('updated_at'),
    manifest_id: text('manifest_id'),
    manifest_version: number('manifest_version'),
    // a bundle must not define permissions of this store
    manifest: JSON.stringify(DEFAULT_POLICIES),
    embedding_plugin: text('embedding_plugin'),
    embedding_provider: text('embedding_provider'),
    embedding_model: text('embedding_model'),
    embedding_revision: number('embedding_revision'),
    vector_space: text('vector_space'),
    dimension: optional('dimension'),
    frozen_at: optional('frozen_at'),
    head_revision: number('head_revision'),
    publication_id: text('publication_id'),
    fingerprint: text('fingerprint'),
    published_at: number('published_at'),
  }
}
