import Testing

@testable import patchbay_loadtest

struct ReceptionTests {
    @Test func orderIsRecognizedAcrossTheWrap() {
        var reception = Reception(from: .max - 2)
        for step in 0..<10 as Range<UInt32> { #expect(reception.take(.max - 2 &+ step) == .inOrder) }
    }

    @Test func aGapIsMissingUntilItComesLate() {
        var reception = Reception(from: 10)
        #expect(reception.take(10) == .inOrder)
        #expect(reception.take(13) == .after(gap: 2))
        #expect(reception.take(12) == .late)
        #expect(reception.take(12) == .repeated)
        #expect(reception.take(11) == .late)
        #expect(reception.take(14) == .inOrder)
    }

    @Test func repeatedFramesCountAsDuplicates() {
        var reception = Reception(from: 0)
        #expect(reception.take(0) == .inOrder)
        #expect(reception.take(0) == .repeated)
        #expect(reception.take(1) == .inOrder)
        #expect(reception.take(0) == .repeated)
    }

    /// Nothing from before the listener came was missing, so it cannot be late.
    @Test func framesBeforeTheFirstCountAsDuplicates() {
        var reception = Reception(from: 100)
        #expect(reception.take(99) == .repeated)
    }

    @Test func aGapOfMoreThanIsRememberedForgetsWhatWasBefore() {
        var reception = Reception(from: 0)
        #expect(reception.take(0) == .inOrder)
        #expect(reception.take(1_000) == .after(gap: 999))
        #expect(reception.take(999) == .late)
        #expect(reception.take(5) == .repeated)
    }

    @Test func onlyTheMeasuredPartOfAGapCounts() {
        #expect(Reception.part(of: 10, before: 100, since: 50) == 10)
        #expect(Reception.part(of: 10, before: 100, since: 97) == 3)
        #expect(Reception.part(of: 10, before: 100, since: 120) == 0)
    }

    @Test func missingLastFramesCountAsLost() {
        var reception = Reception(from: 65_500)
        _ = reception.take(65_500)
        #expect(reception.missing(before: 65_501) == 0)
        #expect(reception.missing(before: 65_540) == 39)
        #expect(reception.missing(before: 65_400) == 0)
    }
}
