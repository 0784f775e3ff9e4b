/// Headings in the user's language.
struct ExportWords: Sendable {
    var conversation = "Conversation"
    var summary = "Summary"
    var actionItems = "Action items"
    var tags = "Tags"
    var transcript = "Transcript"
    var user = "You"
    var assistant = "Assistant"
    var noTurns = "No transcript was kept of this conversation."
    let language: String

    /// - Parameter locale: BCP 47; all but the language is ignored.
    init(locale: String) {
        let asked = String(locale.prefix { $0.isLetter }).lowercased()
        switch asked {
        case "de":
            (conversation, summary, actionItems, tags, transcript) = (
                "Gespräch", "Zusammenfassung", "Aufgaben", "Schlagwörter", "Mitschrift"
            )
            (user, assistant, noTurns) = ("Du", "Assistent", "Von diesem Gespräch gibt es keine Mitschrift.")
        case "fr":
            (conversation, summary, actionItems, tags, transcript) = ("Conversation", "Résumé", "À faire", "Mots-clés", "Transcription")
            (user, assistant, noTurns) = ("Vous", "Assistant", "Aucune transcription de cette conversation n’a été conservée.")
        case "es":
            (conversation, summary, actionItems, tags, transcript) = ("Conversación", "Resumen", "Tareas", "Etiquetas", "Transcripción")
            (user, assistant, noTurns) = ("Tú", "Asistente", "No se guardó ninguna transcripción de esta conversación.")
        default:
            language = "en"
            return
        }
        language = asked
    }

    func name(of speaker: Turn.Speaker) -> String {
        speaker == .user ? user : assistant
    }
}
