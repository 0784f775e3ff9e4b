internal import Dispatch

extension Export {
    /// Typesetting takes the CPU for as long as the conversation is long, so it stays off the store's threads, one document at a time.
    private static let queue = DispatchQueue(label: "Store.pdf")

    /// A4, with the title and page numbers on each page.
    func pdf() async throws(StoreError) -> ExportFile {
        let result: Result<ExportFile, StoreError> = await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: Result { () throws(StoreError) in try self.makePDF() }) }
        }
        return try result.get()
    }

    private func makePDF() throws(StoreError) -> ExportFile {
        let cues = cues
        let (bytes, missing) = try PDFTypesetter.document(title: title, language: words.language) { pages in
            pages.write(title, .title)
            pages.write(date, .note)
            if let content = summary?.content {
                pages.write(words.summary, .heading)
                pages.write(content.summaryText, .body)
                if !content.actionItems.isEmpty { pages.write(words.actionItems, .heading) }
                for item in content.actionItems { pages.write(item, .item) }
                if !content.tags.isEmpty { pages.write("\(words.tags): \(content.tags.joined(separator: ", "))", .note) }
            }
            pages.write(words.transcript, .heading)
            if cues.isEmpty { pages.write(words.noTurns, .note) }
            for cue in cues {
                pages.write("\(words.name(of: cue.speaker)) · \(cue.clock)", .speaker)
                pages.write(cue.text, .body)
            }
        }
        return ExportFile(bytes: bytes, scriptsWithoutFont: Set(missing.map(\.scriptCode)).sorted())
    }
}
