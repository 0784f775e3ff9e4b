/// What all text messages from clients have in common: `{"type","id","data"}`, whatever may be asked on their connection.
enum RequestEnvelope {
    typealias Parts<Content> = (id: UInt64?, content: Result<Content, RequestError>)

    private enum Key: String, CodingKey { case type, id, data }

    /// Reads one, of which nothing is thrown: what is wrong with it is its content.
    ///
    /// - Parameters:
    ///   - unknown: what to say of a type that is none, given its first characters.
    ///   - read: makes a request of its type and its `data`, if it has any.
    static func read<Kind: RawRepresentable<String>, Content>(
        _ decoder: any Decoder, unknown: (Substring) -> String, _ read: (Kind, (any Decoder)?) throws -> Content
    ) throws -> Parts<Content> {
        let message = try decoder.container(keyedBy: Key.self)
        let id: UInt64?
        do {
            id = try message.decodeIfPresent(UInt64.self, forKey: .id)
        } catch {
            return (nil, .failure(RequestError(.malformed, "`id` must be an unsigned integer")))
        }
        guard let name = try? message.decode(String.self, forKey: .type) else {
            return (id, .failure(RequestError(.malformed, "`type` is missing or not a string")))
        }
        guard let type = Kind(rawValue: name) else { return (id, .failure(RequestError(.unknownType, unknown(name.prefix(64))))) }
        do {
            return (id, .success(try read(type, message.contains(.data) ? message.superDecoder(forKey: .data) : nil)))
        } catch {
            return (id, .failure(RequestError(.invalidArgument, "\(type.rawValue): \(ControlCoding.explain(error))")))
        }
    }

    /// What a text is that is no JSON object.
    static func malformed(_ error: any Error) -> RequestError {
        RequestError(.malformed, "the message is not a JSON object: \(ControlCoding.explain(error))")
    }
}
