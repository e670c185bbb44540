/** titled is the name of a page, with how many questions wait for the reader: the tab says it also while another is looked at. */
export const titled = (name: string, asked: number) => (asked > 0 ? `(${asked}) ${name}` : name)
