extension Export {
    /// A4, with page numbers; the conversation may be as long as it likes.
    var pdf: [UInt8] {
        var sheets = PDFSheets()
        sheets.write(title, .title)
        sheets.write(date, .note)
        if let content = summary?.content {
            sheets.write(words.summary, .heading)
            sheets.write(content.summaryText, .body)
            if !content.actionItems.isEmpty { sheets.write(words.actionItems, .heading) }
            for item in content.actionItems { sheets.write(item, .item) }
            if !content.tags.isEmpty { sheets.write("\(words.tags): \(content.tags.joined(separator: ", "))", .note) }
        }
        sheets.write(words.transcript, .heading)
        if cues.isEmpty { sheets.write(words.noTurns, .note) }
        for cue in cues {
            sheets.write("\(words.name(of: cue.speaker)) · \(cue.clock)", .speaker)
            sheets.write(cue.text, .body)
        }
        return sheets.document(title: title, language: words.language)
    }
}
