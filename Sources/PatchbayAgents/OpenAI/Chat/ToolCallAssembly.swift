/// Joins the pieces of tool calls in a streamed answer.
///
/// A piece belongs to the call with its index. Servers deviate: some omit the index, some send several whole calls with index 0 and different
/// ids, some send no id at all.
package struct ToolCallAssembly: Sendable {
    /// Calls in one answer.
    package static let callsMax = 16

    /// A piece of one call, as the server sends it.
    package struct Piece: Sendable, Hashable {
        package var index: Int?
        package var id: String?
        package var name: String?
        package var arguments: String?

        package init(index: Int? = nil, id: String? = nil, name: String? = nil, arguments: String? = nil) {
            self.index = index
            self.id = id
            self.name = name
            self.arguments = arguments
        }
    }

    private struct Entry {
        var index: Int
        var call: ToolCall
    }

    private let idPrefix: String
    private var entries: [Entry] = []

    /// - Parameter idPrefix: begins the id of calls that have none; unique within the conversation.
    package init(idPrefix: String) {
        self.idPrefix = idPrefix
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// - Throws: `ProviderError` of code `invalidResponse` beyond `callsMax`.
    package mutating func append(_ piece: Piece) throws(ProviderError) {
        let position = try position(of: piece)
        if let id = piece.id, !id.isEmpty { entries[position].call.id = id }
        // Some servers repeat the name in each piece.
        if let name = piece.name, entries[position].call.name.isEmpty { entries[position].call.name = name }
        entries[position].call.arguments += piece.arguments ?? ""
    }

    private mutating func position(of piece: Piece) throws(ProviderError) -> Int {
        let id = piece.id ?? ""
        let index = piece.index ?? entries.last?.index ?? 0
        if let position = entries.lastIndex(where: { $0.index == index }) {
            let known = entries[position].call.id
            if id.isEmpty || known.isEmpty || known == id { return position }
        }
        guard entries.count < Self.callsMax else {
            throw ProviderError(.invalidResponse, "the answer contains more than \(Self.callsMax) tool calls")
        }
        entries.append(Entry(index: index, call: ToolCall(id: "", name: "", arguments: "")))
        return entries.count - 1
    }

    /// The complete calls, by index; calls with the same index in the order of their arrival.
    ///
    /// - Throws: `ProviderError` of code `invalidResponse` for a call without a name.
    package func calls() throws(ProviderError) -> [ToolCall] {
        var calls: [ToolCall] = []
        let ordered = entries.enumerated().sorted { ($0.element.index, $0.offset) < ($1.element.index, $1.offset) }
        for (number, entry) in ordered {
            var call = entry.call
            guard !call.name.isEmpty else { throw ProviderError(.invalidResponse, "the answer contains a tool call without a name") }
            if call.id.isEmpty { call.id = "\(idPrefix)-\(number)" }
            if call.arguments.isEmpty { call.arguments = "{}" }
            calls.append(call)
        }
        return calls
    }
}
