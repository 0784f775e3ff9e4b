extension Export {
    /// Plain text, as one would mail it.
    var text: String {
        var text = "\(title)\n\(date)\n"
        if let content = summary?.content {
            text += "\n\(words.summary)\n\(content.summaryText)\n"
            if !content.actionItems.isEmpty {
                text += "\n\(words.actionItems)\n" + content.actionItems.map { "- \($0)\n" }.joined()
            }
            if !content.tags.isEmpty { text += "\n\(words.tags): \(content.tags.joined(separator: ", "))\n" }
        }
        text += "\n\(words.transcript)\n"
        if cues.isEmpty { text += "\(words.noTurns)\n" }
        for cue in cues { text += "[\(cue.clock)] \(words.name(of: cue.speaker)): \(cue.text)\n" }
        return text
    }
}
