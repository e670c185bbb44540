import { blobLink } from '../../api/client'
import type { Ref } from '../../api/types'
import { visible } from '../../text/plain'
import { DiffView } from '../../ui/diffview'
import { bytes } from '../../ui/show'
import { Loading } from '../../ui/states'
import { useBlob } from './told'

// A browser shows so much of a patch without becoming slow. The whole can be downloaded.
const most = 4 * 1024 * 1024

/** Changes shows a patch that is a blob. */
export function Changes({ patch, name }: { patch: Ref; name: string }) {
  const { text, wrong, cut } = useBlob(patch, most)
  if (wrong) return <p className="note bad" role="alert">{visible(wrong)}</p>
  if (text === undefined) return <Loading what="the patch" />
  return (
    <>
      {cut && <p className="note warn">The patch has {bytes(patch.size)}. Its first {bytes(most)} are shown.</p>}
      <DiffView key={patch.hash} patch={text} label="What has changed" aside={<a href={blobLink(patch.hash, name)}
        download={name}>download, {bytes(patch.size)}</a>} />
    </>
  )
}
