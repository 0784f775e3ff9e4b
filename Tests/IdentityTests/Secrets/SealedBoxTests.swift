import Identity
import Testing

struct SealedBoxTests {
    let key = SealingKey()
    let words = Array("hold the line".utf8)

    @Test func sealedValuesOpenWithTheirKeyAndLocation() {
        let sealed = SealedBox.seal(words, with: key, at: "turns.text.1")
        #expect(SealedBox.open(sealed, with: key, at: "turns.text.1") == words)
        #expect(sealed.count == words.count + SealedBox.overhead)
        #expect(SealedBox.open(SealedBox.seal([], with: key, at: "x"), with: key, at: "x") == [])
    }

    @Test func valuesOpenOnlyAtTheirLocation() {
        let sealed = SealedBox.seal(words, with: key, at: "turns.text.1")
        #expect(SealedBox.open(sealed, with: key, at: "turns.text.2") == nil)
        #expect(SealedBox.open(sealed, with: SealingKey(), at: "turns.text.1") == nil)
    }

    @Test func anyModifiedByteIsDetected() {
        let sealed = SealedBox.seal(words, with: key, at: "p")
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(SealedBox.open(changed, with: key, at: "p") == nil)
        }
    }

    @Test func truncatedValuesDoNotOpen() {
        let sealed = SealedBox.seal(words, with: key, at: "p")
        for count in 0..<sealed.count { #expect(SealedBox.open(Array(sealed.prefix(count)), with: key, at: "p") == nil) }
        #expect(SealedBox.open(sealed + [0], with: key, at: "p") == nil)
    }

    @Test func openersAreReusableAlsoAfterAFailure() {
        let texts = [String(repeating: "long ", count: 400), "", "short", String(repeating: "länger ", count: 900)]
        var opener = SealedBoxOpener(key)
        for (index, text) in texts.enumerated() {
            let sealed = SealedBox.seal(Array(text.utf8), with: key, at: "summaries.title.\(index)")
            let (right, wrong) = (Array("summaries.title.\(index)".utf8), Array("summaries.title.x".utf8))
            #expect(opener.openText(sealed.span.bytes, at: wrong.span.bytes) == nil)
            #expect(opener.openText(sealed.span.bytes, at: right.span.bytes) == text)
        }
    }

    @Test func invalidUTF8IsNotOpenedAsText() {
        let place = Array("p".utf8)
        var opener = SealedBoxOpener(key)
        #expect(opener.openText(SealedBox.seal([0x61, 0xFF], with: key, at: "p").span.bytes, at: place.span.bytes) == nil)
        #expect(opener.open(SealedBox.seal([0x61, 0xFF], with: key, at: "p").span.bytes, at: place.span.bytes) == [0x61, 0xFF])
    }

    @Test func sealingTheSameTextTwiceDiffers() {
        let sealed = (0..<100).map { _ in SealedBox.seal(words, with: key, at: "p") }
        #expect(Set(sealed).count == 100)
    }

    /// NIST's test case 14 (256-bit key, zeros), with our version byte and nonce before it: the cipher is the one that others know.
    @Test func sealedValuesAreAES256GCM() throws {
        let key = try #require(SealingKey(bytes: [UInt8](repeating: 0, count: 32)))
        let text = "cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919"
        let sealed = [1] + [UInt8](repeating: 0, count: 12) + bytes(text)
        #expect(SealedBox.open(sealed, with: key, at: "") == [UInt8](repeating: 0, count: 16))
    }
}

func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
