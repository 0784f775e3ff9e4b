private import PatchbayAgents
private import Wire

/// Answers of speech and language providers. What is read does not depend on how the bytes are cut.
enum ProviderFuzzing {
    /// The first byte selects the reader, the second where the input is cut, the rest is the input.
    static func read(_ bytes: [UInt8]) {
        guard bytes.count > 2 else { return }
        let input = Array(bytes.dropFirst(2))
        let pieceLength = Int(bytes[1]) + 1
        switch bytes[0] % 5 {
        case 0: splitEvents(input, pieceLength: pieceLength)
        case 1: compare(ChatAnswer(idPrefix: "c"), input, pieceLength: pieceLength) { $0 }
        case 2: compare(SpeechAnswer(), input, pieceLength: pieceLength) { [$0.flatMap(\.samples)] }
        case 3:
            let segment = SpeechSegment(samples: [], start: Instant(nanoseconds: 0))
            compare(TranscriptionAnswer(for: segment), input, pieceLength: pieceLength) { $0 }
        default: decodeEvents(input)
        }
    }

    private static func splitEvents(_ input: [UInt8], pieceLength: Int) {
        func events(_ pieceLength: Int) -> [ServerSentEvent] {
            var (parser, events, rest) = (ServerSentEventParser(), [ServerSentEvent](), input[...])
            while !rest.isEmpty {
                guard (try? parser.append(rest.prefix(pieceLength), to: &events)) != nil else { return events }
                rest = rest.dropFirst(pieceLength)
            }
            parser.finish(into: &events)
            return events
        }
        precondition(events(pieceLength) == events(input.count), "events depend on how the stream is cut")
    }

    /// - Parameter summary: the part of the result that cuts may not change.
    private static func compare<Reader: AnswerReader, Summary: Equatable>(
        _ reader: Reader, _ input: [UInt8], pieceLength: Int, _ summary: ([Reader.Part]) -> Summary
    ) {
        func outcome(_ pieceLength: Int) -> (Summary, ProviderError.Code?) {
            var (reader, parts, rest) = (reader, [Reader.Part](), input[...])
            do throws(ProviderError) {
                while !rest.isEmpty {
                    try reader.receive(Array(rest.prefix(pieceLength)), into: &parts)
                    rest = rest.dropFirst(pieceLength)
                }
                if !reader.isComplete { try reader.finish(into: &parts) }
                return (summary(parts), nil)
            } catch {
                return (summary(parts), error.code)
            }
        }
        let (cut, whole) = (outcome(pieceLength), outcome(input.count))
        precondition(cut.1 == whole.1, "an error depends on how the answer is cut: \(cut) and \(whole)")
        precondition(cut.1 != nil || cut.0 == whole.0, "an answer depends on how it is cut")
    }

    /// Lines are events of one realtime session.
    private static func decodeEvents(_ input: [UInt8]) {
        var decoder = RealtimeEventDecoder()
        for line in input.split(separator: UInt8(ascii: "\n")) {
            guard (try? decoder.decode(Array(line))) != nil else { return }
        }
    }
}
