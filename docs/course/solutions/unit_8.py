# %%
def followed(player, seat):
    """Return (positions, beaten): the number of positions, and how often the player was beaten there."""
    rules = player.rules
    positions = beaten = 0
    now = {(0, 0)} if seat == 0 else {(0, 1 << cell) for cell in range(rules.cells)}
    while now:
        positions += len(now)
        now = sorted(now)
        following = set()
        for (mine, theirs), cell in zip(now, player.cells(*map(list, zip(*now, strict=True))), strict=True):
            if (mine | theirs) >> cell & 1:
                beaten += 1
                continue
            moved = mine | 1 << cell
            if rules.has_line(moved):
                continue
            for reply in rules.cells_of(rules.legal_cells(moved, theirs)):
                replied = theirs | 1 << reply
                if rules.has_line(replied):
                    beaten += 1
                elif moved | replied != rules.full_board:
                    following.add((moved, replied))
        now = following
    return positions, beaten
