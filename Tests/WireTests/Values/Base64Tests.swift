import Foundation
import Testing
import Wire

/// Which payloads pass for base64.
struct Base64Tests {
    @Test func textEncodedByFoundationIsAccepted() {
        var random = SplitMix64(seed: 3)
        for count in 0..<200 { #expect(passes(Data(random.bytes(count)).base64EncodedString())) }
    }

    @Test func acceptedTextIsDecodedByFoundation() {
        var random = SplitMix64(seed: 4)
        let alphabet = Array("AZaz09+/=-_ ".utf8)
        for _ in 0..<5_000 {
            let text = String(decoding: (0..<random.below(3) * 4).map { _ in alphabet[random.below(alphabet.count)] }, as: UTF8.self)
            if passes(text) { #expect(Data(base64Encoded: text) != nil, "\(text)") }
        }
    }

    @Test(
        "What has padding in the wrong place, other characters or half a group does not pass",
        arguments: [
            "A", "AA", "AAA", "AAAAA", "====", "A===", "=AAA", "AA=A", "A=A=", "AA==AA==", "AAAA====", "AA-_", "AA A", "AA\\nA", "AAä",
            "AA\\u0000A",
        ])
    func refused(_ text: String) {
        #expect(!passes(text))
    }

    private func passes(_ text: String) -> Bool {
        let message = #"{"type":"data.send","data":{"payload_base64":"\#(text)"}}"#
        return (try? IncomingRequest(parsing: Array(message.utf8)).content.get()) != nil
    }
}
